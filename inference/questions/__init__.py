"""Questions to a fit of a formula: functions of its constants, values, crossings, and where it is best."""
