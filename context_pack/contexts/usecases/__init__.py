"""What can be asked of directory contexts."""
