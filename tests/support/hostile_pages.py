"""Names and texts that try to run in a page, and a page that must not do what they say."""

from contextlib import contextmanager

IN_PAGES = (
    "<script>alert(1)</script>",
    "=1+../x",
    "CON",
    "con",
    "GPT",
    "gpt",
    "שלום \u202eעולם",
    '" onmouseover="alert(1)',
    "]]></script><img src=x onerror=alert(1)>",
    "n" * 300,
    "{{ 7 * 7 }}",
    "nul\x00byte",
)
HOSTILE = "</script><script>alert(3)</script><img src=x onerror=alert(4)>"


@contextmanager
def watched(browser, served="file:", **options):
    """A page that must say nothing on the console, open no dialog and load nothing else."""
    with browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}) as context:
        page = context.new_page()
        faults = []
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append("dialog"), dialog.dismiss()))
        allowed = (served, "file:", "data:", "blob:")
        page.on(
            "request",
            lambda request: None if request.url.startswith(allowed) else faults.append(request.url),
        )
        yield page
        assert faults == []
