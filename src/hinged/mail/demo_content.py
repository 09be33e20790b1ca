"""What the made-up mailbox talks about: folders, who writes to them, and about what."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FOLDERS", "GREETINGS", "SMALL_TALK", "Theme"]


class Theme(NamedTuple):
    """A folder of the demo.

    Attributes
    ----------
    folder : its name
    weight : how often mail comes for it, compared with others
    begins : when it appears, a share of the whole time
    senders : who writes, as (name, address); the first of them most
    mailing_list : the name of its list, "" for none
    subjects : with {x} for one of `things` and {n} for a number
    things : what is talked about
    sentences : with {x}, {y} for things and {n} for a number
    """

    folder: str
    weight: float
    begins: float
    senders: tuple[tuple[str, str], ...]
    mailing_list: str
    subjects: tuple[str, ...]
    things: tuple[str, ...]
    sentences: tuple[str, ...]


GREETINGS = ("Hello Robin,", "Dear Robin,", "Hi,", "Good morning,", "Hi Robin,")
SMALL_TALK = (
    "Please let me know if you have any questions.",
    "Thanks for your patience.",
    "Could you have a look before Friday?",
    "I will be out of the office tomorrow.",
    "Have a good week.",
    "Sorry for the late reply.",
    "More on this next week.",
    "Can we talk about it on the phone?",
    "The details are below.",
    "See you soon.",
)

FOLDERS = (
    Theme(
        "Finance/Invoices",
        10,
        0.0,
        (
            ("Northwind Accounts", "accounts@northwind.example"),
            ("Harbour Print", "billing@harbourprint.example"),
            ("Cloud Desk", "no-reply@clouddesk.example"),
        ),
        "",
        ("Invoice {n} for {x}", "Your {x} invoice is ready", "Payment reminder: {x}", "Credit note {n}"),
        ("printing", "hosting", "office rent", "design work", "the copier", "translation", "the new chairs"),
        (
            "Attached is invoice {n} for {x}.",
            "The amount is due within 30 days, please quote invoice {n}.",
            "We have not received your payment for {x} yet.",
            "Your VAT number and our bank account have not changed.",
            "The credit for {x} is on your account.",
        ),
    ),
    Theme(
        "Finance/Taxes",
        4,
        0.1,
        (("Tax Office", "notices@taxoffice.example"), ("Ledger & Lamp Accountants", "office@ledgerlamp.example")),
        "",
        ("Tax return: {x}", "Your {x} for the year", "Missing document: {x}", "Assessment {n}"),
        ("income statement", "receipts", "pension statement", "advance payment", "deductions", "VAT return"),
        (
            "For your return we still need the {x} and the {y}.",
            "The assessment shows a refund of {n} euros.",
            "The deadline for the {x} is at the end of the month.",
            "Please sign the {x} and send it back to us.",
        ),
    ),
    Theme(
        "Projects/Aurora",
        12,
        0.0,
        (
            ("Aurora team", "aurora@studio.example"),
            ("Design", "design@studio.example"),
            ("Build server", "build@studio.example"),
        ),
        "",
        ("Aurora: {x}", "{x} before the release", "Build {n} failed: {x}", "Notes on the {x}"),
        (
            "onboarding screens",
            "search index",
            "release notes",
            "payment flow",
            "dark theme",
            "beta feedback",
            "crash reports",
        ),
        (
            "The {x} are ready for review.",
            "Testers like the {x}, but the {y} confuse them.",
            "We moved the {x} to the next milestone.",
            "Build {n} broke the {x} again; a fix is on its way.",
            "Can you comment on the {x} in the prototype?",
        ),
    ),
    Theme(
        "Projects/Borealis",
        8,
        0.3,
        (
            ("Borealis team", "borealis@studio.example"),
            ("Design", "design@studio.example"),
            ("Data desk", "data@studio.example"),
        ),
        "",
        ("Borealis: {x}", "Kick-off: {x}", "{x}, second draft", "Risk {n}: {x}"),
        ("sensor firmware", "field trial", "data pipeline", "weather stations", "battery tests", "grant report"),
        (
            "The {x} survived the night at minus {n} degrees.",
            "The {x} is late because of the {y}.",
            "The station sends {n} readings an hour now.",
            "For the {x} we need two more volunteers.",
        ),
    ),
    Theme(
        "Travel",
        6,
        0.05,
        (
            ("Rail Connect", "bookings@railconnect.example"),
            ("Harbour Hotel", "stay@harbourhotel.example"),
            ("Travel desk", "travel@studio.example"),
        ),
        "",
        ("Your booking {n}", "Itinerary: {x}", "Change to your {x}", "Check in for your {x}"),
        ("night train", "ferry crossing", "hotel room", "return ticket", "seat reservation", "rental bicycle"),
        (
            "Your {x} is confirmed, booking number {n}.",
            "The platform of your {x} has changed.",
            "You can cancel the {x} free of charge until noon.",
            "Breakfast is included with the {x}.",
        ),
    ),
    Theme(
        "Lists/Astronomy",
        9,
        0.0,
        (("Astronomy list", "members@astro.example"), ("Observatory", "news@observatory.example")),
        "astronomy.lists.example",
        ("[astro] {x} tonight", "[astro] Re: {x}", "[astro] Clear skies and {x}", "[astro] {x} for sale"),
        (
            "the Perseids",
            "a new eyepiece",
            "Saturn's rings",
            "dark sites",
            "the lunar eclipse",
            "collimation",
            "a star party",
        ),
        (
            "With a 20 cm mirror {x} looked splendid.",
            "Has anyone compared {x} with {y}?",
            "Seeing was {n} out of ten above the reservoir.",
            "Bring warm clothes for {x}.",
        ),
    ),
    Theme(
        "Lists/Baking",
        6,
        0.2,
        (("Baking circle", "circle@crumb.example"), ("Mill shop", "shop@oldmill.example")),
        "baking.lists.example",
        ("[crumb] {x}", "[crumb] Re: {x} too dense", "[crumb] Question about {x}", "[crumb] {x} swap"),
        ("sourdough", "rye starter", "brioche", "spelt flour", "croissants", "focaccia", "cinnamon buns"),
        (
            "My {x} rose for {n} hours and still came out flat.",
            "Try the {x} with a little more water.",
            "The mill has fresh flour for {x} and {y}.",
            "Bake the {x} at {n} degrees with steam.",
        ),
    ),
    Theme(
        "Family",
        8,
        0.0,
        (("Mum", "mum@family.example"), ("Uncle", "uncle@family.example"), ("Cousins", "cousins@family.example")),
        "",
        ("{x}", "Photos of {x}", "Re: {x}", "Who brings what to {x}?"),
        (
            "Sunday lunch",
            "grandma's birthday",
            "the garden fence",
            "summer holidays",
            "the old cinema",
            "the new puppy",
        ),
        (
            "We are all looking forward to {x}.",
            "Dad has repaired {x} and sends his love.",
            "The photos of {x} are lovely.",
            "Shall we talk about {x} on Saturday?",
        ),
    ),
    Theme(
        "School",
        5,
        0.15,
        (("School office", "office@riverschool.example"), ("Class 4b", "class4b@riverschool.example")),
        "",
        ("{x} in class 4b", "Reminder: {x}", "Letter to parents {n}", "{x} next week"),
        ("swimming lessons", "the school trip", "parents' evening", "maths homework", "the summer fair", "head lice"),
        (
            "Please sign the slip for {x}.",
            "{x} begins at {n} o'clock in the hall.",
            "Children should bring a packed lunch for {x}.",
            "We need helpers for {x} and {y}.",
        ),
    ),
    Theme(
        "Newsletters",
        9,
        0.0,
        (
            ("Weekend Reader", "letters@weekendreader.example"),
            ("Tech Digest", "digest@techdigest.example"),
            ("City Museum", "news@citymuseum.example"),
        ),
        "",
        ("This week: {x}", "{x}, and {n} other stories", "Subscribers only: {x}", "What we know about {x}"),
        (
            "slow cities",
            "open source funding",
            "a lost painting",
            "electric ferries",
            "the return of the lynx",
            "paper maps",
        ),
        (
            "Our longest read this week is about {x}.",
            "Unsubscribe with one click at the end of this letter.",
            "Readers wrote {n} comments on {x}.",
            "Next week: {y}.",
        ),
    ),
    Theme(
        "Shopping",
        6,
        0.1,
        (
            ("Wool & Yarn", "orders@woolandyarn.example"),
            ("Second Shelf Books", "orders@secondshelf.example"),
            ("Parcel service", "tracking@parcels.example"),
        ),
        "",
        ("Order {n} has shipped", "Your order: {x}", "Parcel {n} arrives today", "Return of {x}"),
        ("merino wool", "a field guide", "knitting needles", "two paperbacks", "a desk lamp", "rain boots"),
        (
            "Your order {n} with {x} is on its way.",
            "The parcel waits for you at the corner shop.",
            "Please rate {x}.",
            "We refunded {x} today.",
        ),
    ),
    Theme(
        "Volunteering",
        4,
        0.35,
        (("River clean-up", "crew@rivercleanup.example"), ("Food bank", "rota@foodbank.example")),
        "",
        ("Rota: {x}", "{x} on Saturday", "We need {n} more hands", "Thank you for {x}"),
        ("the east bank", "the morning shift", "sorting tins", "the spring clean", "gloves and bags", "the van"),
        (
            "Last time we collected {n} bags at {x}.",
            "Who can take {x} this week?",
            "The council lends us {x}.",
            "Please enter your name for {x} or {y}.",
        ),
    ),
    Theme(
        "Receipts",
        5,
        0.0,
        (
            ("Corner Pharmacy", "receipts@cornerpharmacy.example"),
            ("Bike Workshop", "till@bikeworkshop.example"),
            ("Payments", "receipt@payments.example"),
        ),
        "",
        ("Receipt {n}", "You paid for {x}", "Your purchase of {x}", "Thank you for your payment {n}"),
        ("a bus pass", "inner tubes", "sunscreen", "a coffee machine", "museum tickets", "lunch"),
        ("You paid {n} euros for {x}.", "Keep this receipt for the guarantee of {x}.", "Card ending in {n}."),
    ),
    Theme(
        "Health",
        3,
        0.25,
        (("Practice on the Square", "desk@practice.example"), ("Dental clinic", "recall@dental.example")),
        "",
        ("Appointment {n}", "Your {x}", "Time for a {x}", "Results of your {x}"),
        ("blood test", "check-up", "vaccination", "eye test", "physiotherapy"),
        (
            "Your {x} is at {n} o'clock.",
            "Please come to the {x} without breakfast.",
            "The results of the {x} are fine.",
        ),
    ),
    Theme(
        "Archive/House",
        4,
        0.45,
        (("Property management", "house@keystone.example"), ("Neighbours", "stairs@house12.example")),
        "",
        ("House 12: {x}", "{x} on the stairs", "Heating costs {n}", "Work on the {x}"),
        ("boiler", "roof", "bicycle cellar", "courtyard", "door bell", "rain gutter"),
        (
            "The {x} will be repaired on Tuesday.",
            "Please keep the {x} free for {n} hours.",
            "The costs of the {x} are shared by all flats.",
        ),
    ),
)
