"""The method as scikit-learn classifiers: tables of any kind, labels and weights in, readable
formulas out.
"""
