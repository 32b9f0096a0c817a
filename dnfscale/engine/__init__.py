"""How work on partitions is carried out: one after the other, or on a cluster."""
