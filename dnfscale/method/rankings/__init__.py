"""Rankings of attributes: a module, or several of a kind in one, registers each of them."""
