"""The page Classify: places on a map or in a table, and a model beside a released file."""
