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
        opened = context.new_page()
        faults = []
        opened.on("console", lambda message: faults.append(message.text))
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on("dialog", lambda dialog: (faults.append("dialog"), dialog.dismiss()))
        known = (served, "file:", "data:", "blob:")
        opened.on(
            "request",
            lambda sent: None if sent.url.startswith(known) else faults.append(sent.url),
        )
        yield opened
        assert faults == []
