"""Attacks on size: how much data and work a stranger can cause."""

import stranger
from target import BAKERY, NotPlayed, eventually, refuse

# Upper bound of a function's response.
ANSWER_LIMIT_BYTES = 6 * 1024 * 1024
# Memory for the largest body of 4 MB, its copies while it is read, and other work of the process.
MOST_MEMORY_KIB = 100 * 1024


def prepare(target):
    target.open_bakery()
    target.self_signed = stranger.self_signed(f"IDCDO-{BAKERY}")


def elements(size_bytes):
    """`<ECF>` with this many bytes of empty elements, each with a unique name."""
    names, length = [], 0
    while length < size_bytes:
        names.append(f"<a{len(names)}/>")
        length += len(names[-1])
    return f"<ECF>{''.join(names)}</ECF>".encode()


def fastest(target, body):
    return min(target.plant(body).seconds for _ in range(2))


def s5_time_grows_with_size_and_not_with_its_square(target):
    normal = fastest(target, target.self_signed.sign(stranger.receipt(BAKERY, target.rnc, "E310000007000", items=400)))
    times = {size: fastest(target, elements(size * 1000)) for size in (15, 30, 60)}
    # Four times the bytes: linear work takes four times as long, quadratic work sixteen times.
    growth = times[60] / max(times[15], 0.005)
    seen = f"15, 30, 60 KB: {', '.join(f'{seconds:.3f}' for seconds in times.values())} s; a receipt of 100 KB: {normal:.3f} s"
    return refuse(growth > 8 or times[60] > 10 * normal, seen)


def s5_memory_grows_with_size_only(target):
    head, tail = stranger.receipt(BAKERY, target.rnc, "E310000007001").split("<Item>", 1)
    end = tail[tail.index("</DetallesItems>"):]
    short = head + "<Item><NumeroLinea>1</NumeroLinea></Item>" * 98_000 + end
    seen, most = [], 0
    for what, xml in {"short items": short.encode(), "short items, signed": target.self_signed.sign(short),
                      "empty items": (head + "<Item/>" * 570_000 + end).encode()}.items():
        before = target.resident_kib("VmRSS")
        target.forget_peak_memory()
        answer = target.plant(xml)
        grown = target.resident_kib("VmHWM") - before
        most = max(most, grown)
        seen.append(f"{len(xml) / 1e6:.1f} MB of {what}: {answer.status}, {grown / 1024:.0f} MB more memory")
    return refuse(most > MOST_MEMORY_KIB, "; ".join(seen))


def s8_a_comment_does_not_make_a_document_large(target):
    xml = target.self_signed.sign(stranger.receipt(BAKERY, target.rnc, "E310000007002"))
    answer = target.plant(xml.replace(b"<Encabezado>", b"<!--" + b"x" * 3_900_000 + b"--><Encabezado>", 1))
    return refuse(answer.estado == "0", f"3.9 MB of comment: {answer.code[:60]}, Estado {answer.estado}")


def s4_large_certificates_are_refused(target):
    receipt = target.accepted("large-names")
    seen, taken = [], False
    for what, size in {"subject of 409 KB": {"subject_bytes": 409_000}, "subject of 2 KB": {"subject_bytes": 2_000},
                       "certificate of 20 KB": {"extension_bytes": 20_000}}.items():
        signer = stranger.self_signed(f"IDCDO-{BAKERY}", "GRANDE", **size)
        planted = target.plant(signer.sign(stranger.receipt(BAKERY, target.rnc, f"E31000000710{len(seen)}")))
        answer = target.answer_for_buyer(signer.sign(stranger.approval(target.rnc, BAKERY, receipt["encf"])))
        taken = taken or planted.estado == "0" or answer.status == 200
        seen.append(f"{what}: Estado {planted.estado}, answer {answer.status}")
    return refuse(taken, "; ".join(seen))


def s4_a_large_answer_does_not_keep_a_receipt_from_its_verdict(target):
    """The largest subject that fits into the record would leave no room for the verdict."""
    target.control("PUT", "verdict-delay", {"ms": 4000})
    receipt = target.issue("large-answer-early")
    xml = stranger.approval(target.rnc, BAKERY, receipt["encf"])
    for size in range(409_300, 406_000, -100):
        signer = stranger.self_signed(f"IDCDO-{BAKERY}", "GRANDE", subject_bytes=size)
        answer = target.answer_for_buyer(signer.sign(xml))
        # 5xx: the record would be too large, so it was not written.
        if answer.status < 500:
            break
    state = target.receipt(receipt["public_id"])["status"]
    target.control("PUT", "verdict-delay", {"ms": 600})
    if state == "accepted":
        raise NotPlayed("the authority was faster")
    ended = eventually(lambda: target.receipt(receipt["public_id"])["status"] == "accepted", 12)
    return refuse(not ended, f"subject of {size} bytes: answer {answer.status}; verdict recorded: {bool(ended)}")


def s4_a_page_of_large_items_is_an_answer(target):
    """Starts with the largest subject; if it is rejected, continues with the largest accepted values."""
    received = 0
    for size in (400_000, 700):
        signer = stranger.self_signed(f"IDCDO-{BAKERY}", "GRANDE", subject_bytes=size)
        for number in range(16):
            xml = signer.sign(stranger.receipt(BAKERY, target.rnc, f"E31{size:06}{number:04}", name="😀" * 150, total="9999999999999999.99"))
            received += target.plant(xml).estado == "0"
            if not received:
                break
    if not received:
        raise NotPlayed("not even values of the largest allowed size were received")
    page = target.client("GET", "/client/inbox")
    seen = f"{received} received; the page: {page.status}, {len(page.body) / 1e6:.2f} MB"
    return refuse(page.status != 200 or len(page.body) > ANSWER_LIMIT_BYTES, seen)


def s4_the_largest_allowed_answer_is_recorded(target):
    signer = stranger.self_signed(f"IDCDO-{BAKERY}", "GRANDE", subject_bytes=700)
    receipt = target.accepted("largest-answer")
    xml = signer.sign(stranger.approval(target.rnc, BAKERY, receipt["encf"], reason="😀" * 250))
    answer = target.answer_for_buyer(xml)
    view = target.client("GET", f"/ecf/{receipt['public_id']}")
    listed = target.client("GET", "/client/documents?limit=100")
    seen = f"answer {answer.status}; receipt {view.status}, list {listed.status} with {len(listed.body)} bytes"
    return refuse(view.status != 200 or listed.status != 200 or answer.status >= 500, seen)
