"""One module per gallery entry: ORDER, TITLE, TEXT and make(directory) -> Exhibit."""
