"""Rating tables: a model as mains and pairs."""
