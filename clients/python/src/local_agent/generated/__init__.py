"""Made of openapi.json: the models and a method for each operation."""
