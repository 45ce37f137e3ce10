"""What each finding means: `registry` looks a code up; one table per family."""
