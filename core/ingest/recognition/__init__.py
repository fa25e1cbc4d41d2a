"""What documents show without holding it as text: pages and pictures whose characters are recognised one by one."""
