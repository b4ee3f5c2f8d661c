"""Files: values saved and loaded."""

# isort: off
from ._checkpoint import save as save, load as load
from ._safetensors import export_safetensors as export_safetensors, import_safetensors as import_safetensors
from ._sharded import save_sharded as save_sharded, load_sharded as load_sharded
