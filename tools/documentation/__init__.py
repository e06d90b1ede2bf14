"""Making the web manual: ``class_reference`` writes the XML, ``class_pages`` turns it into pages, ``site`` builds."""
