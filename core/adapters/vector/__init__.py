"""Vector indexes: Milvus, Milvus Lite, and in memory."""
