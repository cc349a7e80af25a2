"""Scripts for developers: the build, the environment, the gate."""
