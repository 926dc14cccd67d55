"""The console that is tested: pages that notice what must not happen, and what the tests ask the API."""

import base64
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from local import root, target
from playwright.sync_api import expect

sources = root / "functions/pages/console"
pictures = target / "console"
LOOKS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}
PATIENCE = 20_000
# Upper bound of the share of pixels in which a view differs from its picture in docs/images: times of day, other fonts.
MOST_DIFFERENT = 0.02
DIFFERENT = """async (pictures) => {
  const pixels = async (picture) => {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const drawn = new OffscreenCanvas(image.width, image.height).getContext("2d");
    drawn.drawImage(image, 0, 0);
    return drawn.getImageData(0, 0, image.width, image.height);
  };
  const [one, other] = await Promise.all(pictures.map(pixels));
  if (one.width !== other.width || one.height !== other.height) return 1;
  let different = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    const by = [0, 1, 2].map((colour) => Math.abs(one.data[at + colour] - other.data[at + colour]));
    if (Math.max(...by) > 48) different += 1;
  }
  return different / (one.width * one.height);
}"""
expect.set_options(timeout=PATIENCE)
AXE = sources / "node_modules/axe-core/axe.min.js"
# What a browser writes when a request was refused; tests that expect a refusal say so.
REFUSED = "Failed to load resource"


@dataclass
class Console:
    """The system, the address of its console, and the companies that use it."""

    ready: dict
    address: str
    place: Path
    # Whether pictures in docs/images are written, not compared.
    writes_pictures: bool = False
    problems: list = field(default_factory=list)

    def api(self, method, path, body=None, key=None):
        """The status and the body of the API's answer."""
        headers = {"X-API-Key": key or self.ready["api_key"], "Content-Type": "application/json"}
        return asked(method, f"{self.ready['base_url']}/api/v1/{path}", body, headers)

    def authority(self, method, path, body):
        """Orders something of the simulated tax authority."""
        status, answer = asked(method, f"{self.ready['simulator_url']}/_control/{path}", body, {"Content-Type": "application/json"})
        assert status in (200, 201, 204), (status, answer)

    def settled(self, external_id, states=("accepted", "conditionally_accepted", "rejected"), key=None):
        """The receipt with this id, once it is in one of the states."""
        for _ in range(100):
            _, answer = self.api("GET", f"client/documents?external_id={external_id}", key=key)
            found = answer["items"]
            if found and found[0]["status"] in states:
                return found[0]
            wait()
        raise AssertionError(f"{external_id} is not in {states}")

    def page(self, browser, look="desktop", key=None, **options):
        """A page that is signed in by a link, and that notes errors and foreign requests."""
        page = browser.new_context(locale="es-DO", **LOOKS[look], **options).new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: self.noted(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.noted(str(error)))
        # What the browser's own PDF view loads is the browser's.
        own = (self.address, "data:", "blob:", "chrome-extension://", "chrome://")
        page.on("request", lambda request: None if request.url.startswith(own) else self.noted(f"another host: {request.url}"))
        page.goto(f"{self.address}/console#key={key or self.ready['api_key']}")
        page.get_by_role("heading", name="Inicio", exact=True).wait_for()
        assert "key" not in page.url, f"the key stays in the address: {page.url}"
        return page

    def pictured(self, browser, page, name):
        """The view is that of the picture in docs/images."""
        taken, file = page.screenshot(), root / "docs/images" / name
        pictures.mkdir(parents=True, exist_ok=True)
        (pictures / name).write_bytes(taken)
        if self.writes_pictures:
            file.write_bytes(taken)
        other = browser.new_page()
        share = other.evaluate(DIFFERENT, [base64.b64encode(picture).decode() for picture in (taken, file.read_bytes())])
        other.close()
        assert share <= MOST_DIFFERENT, f"{name} differs in {share:.1%} of its pixels; `run --images` writes it anew"

    def noted(self, text):
        self.problems.append(text)

    def was_quiet(self, *, allowed=()):
        """Nothing was noted but what is allowed."""
        loud = [text for text in self.problems if not any(part in text for part in allowed)]
        self.problems.clear()
        assert not loud, loud


def asked(method, url, body, headers):
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
            return answer.status, json.loads(answer.read() or "null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or "null")


def wait(seconds=0.1):
    time.sleep(seconds)


def example(ecf_type):
    """The published example of a type."""
    return json.loads((root / f"infra/openapi/examples/{ecf_type}.json").read_text())


def opened(page, address):
    """Opens a view and waits until its data are there."""
    page.goto(address)
    page.locator("main h1, main h2").first.wait_for()
    loaded(page)


def loaded(page):
    # The page's content security policy forbids what `wait_for_function` does.
    expect(page.locator("main .skeleton")).to_have_count(0)


def accessible(page, where):
    """What axe-core finds: nothing."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], iframes: false}).then(({violations}) => violations.map(v => [v.id, v.nodes.map(n => n.target.join(' ') + ' ' + n.failureSummary).slice(0, 3)]))")
    assert not found, (where, found)


def closed(page):
    """Ends a page whose requests are still answered by a test."""
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()


def fits(page, where):
    """Nothing pushes the page sideways."""
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{where} is {wide} px too wide"
