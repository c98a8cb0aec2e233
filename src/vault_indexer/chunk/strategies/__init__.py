"""The strategies of chunking, one file each; the table in `chunk.registry` names them all."""
