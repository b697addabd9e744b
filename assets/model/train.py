#!/usr/bin/env python3
"""Make tokendrip's bundled model: corpus, tokenizer, training, evaluation, GGUF.

This is a developer's tool.  tokendrip itself never runs it: the program only
reads the `tokendrip.gguf` that this script writes.

    python train.py train --minutes 60        # train (resumes with --resume)
    python train.py export                    # checkpoint -> tokendrip.gguf
    python train.py eval                      # exact-answer rate of the GGUF
    python train.py golden                    # golden.json for the C tests
    python train.py prompt "Where is ..."     # greedy answer to one prompt
    python train.py corpus                    # print a few training examples

What is reproducible from --seed: the corpus (each training batch is a function
of the seed and the step number only), the tokenizer, and the evaluation set,
all bit for bit with the same Python version.  The weights are reproducible up
to the order in which threads add floating-point numbers; with --minutes the
number of steps also depends on the machine, so give --steps to pin it.

The text is original: everything is generated from the word lists and sentence
patterns in this file.  Needs numpy; training also needs PyTorch (CPU will do).
"""
import argparse
import json
import math
import os
import random
import signal
import struct
import sys
import time
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))

# --------------------------------------------------------------------------
# Model and prompt constants
# --------------------------------------------------------------------------

CONFIG = dict(dim=192, layers=8, heads=6, kv_heads=2, ff=384, vocab=1024,
              context=1280, eps=1e-5, rope_base=10000.0)

UNK, BOS, EOS, BYTE0, FIRST_PIECE = 0, 1, 2, 3, 259
SPACE = "\u2581"

INSTRUCTION = "You are a support agent. Answer from the policy."
QUESTION = "Where is my parcel?"
BASE_PROMPT = INSTRUCTION + " " + QUESTION
BASE_PIECES = ["<s>", "▁You", "▁are", "▁a", "▁support", "▁agent", ".",
               "▁Answer", "▁from", "▁the", "▁policy", ".", "▁Where", "▁is",
               "▁my", "▁par", "cel", "?"]
BASE_ANSWER = ["▁Your", "▁par", "cel", "▁arrives", "▁today", ".", "</s>"]
UNKNOWN_ANSWER = "I do not know, please ask our team."

# --------------------------------------------------------------------------
# Corpus: values that a policy sentence can state
# --------------------------------------------------------------------------

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
PARTS = "morning afternoon evening night".split()
MONTHS = ("January February March April May June July August September "
          "October November December").split()
SEASONS = "spring summer autumn winter".split()
NUMBERS = "two three four five six seven eight nine ten eleven twelve".split()
UNITS = "minutes hours days weeks months years".split()
COLOURS = "red blue green yellow white black grey brown orange pink".split()
THINGS = ("lamp chair table bag cup coat clock shoe phone book bottle cable "
          "camera blanket pillow mirror kettle watch pen scarf").split()
CITIES = ("Leeds Paris Berlin Oslo Rome Vienna Dublin Madrid Lisbon Geneva "
          "Zürich Köln Prague York Bath Milan Nantes Orléans").split()
COUNTRIES = ("France Germany Spain Italy Norway Sweden Poland Ireland Austria "
             "Portugal Finland Greece Japan Canada Brazil India").split()
STREETS = ("Mill Oak Hill River Park Station Garden Church King North Bridge "
           "Lake Market Queen South Forest").split()
NAMES = ("Anna Ben Clara David Emma Frank Grace Henry Ida Jack Karen Leo Maria "
         "Nina Oscar Paul Rosa Sam Tom Vera Zoë René").split()
SYLLABLES = ("ba be bo da de di do fa fi ga go ha he ka ki ko la le li lo ma "
             "me mi mo na ne ni no pa pe ra re ri ro sa se si so ta te ti to "
             "va ve vi wa we za zo").split()


def v_number(r):
    return r.choice(NUMBERS) if r.random() < .5 else str(r.randint(2, 60))


def v_duration(r):
    if r.random() < .12:
        return "one " + r.choice(UNITS)[:-1]
    return v_number(r) + " " + r.choice(UNITS)


def v_clock(r):
    k = r.random()
    if k < .08:
        return r.choice(["noon", "midnight"])
    if k < .45:
        return r.choice(NUMBERS) + " in the " + r.choice(PARTS[:3])
    if k < .75:
        return "%d:%02d" % (r.randint(1, 23), r.choice([0, 5, 10, 15, 20, 30, 40, 45]))
    return str(r.randint(1, 23))


def v_date(r):
    return "%d %s" % (r.randint(1, 31), r.choice(MONTHS))


def v_when(r):
    k = r.randrange(16)
    d, p = r.choice(DAYS), r.choice(PARTS)
    if k < 3:
        return "on " + d
    return ["on %s %s" % (d, p), "on %s %s" % (d, p), "tomorrow",
            "tomorrow " + p, "in " + v_duration(r), "within " + v_duration(r),
            "by " + d, "before " + v_clock(r), "at " + v_clock(r), "next " + d,
            r.choice(["next week", "this week", "next month", "this " + p]),
            "after " + d, "on " + v_date(r)][k - 3]


def v_day(r):
    a, b = r.sample(DAYS, 2)
    return r.choice([a, a, a + " and " + b, a + " " + r.choice(PARTS[:3]),
                     "public holidays"] if r.random() < .8 else [v_date(r)])


def v_price(r):
    cur = r.choice(["euros", "pounds", "dollars"])
    k = r.random()
    if k < .35:
        return r.choice(NUMBERS) + " " + cur
    if k < .65:
        return "%d %s" % (r.randint(2, 99), cur)
    return "%d.%02d %s" % (r.randint(1, 60), r.choice([20, 25, 40, 50, 75, 80, 90, 95, 99]), cur)


def v_name(r):
    if r.random() < .5:
        return r.choice(NAMES)
    return "".join(r.choice(SYLLABLES) for _ in range(r.choice([2, 2, 3]))).capitalize()


def v_city(r):
    return r.choice(CITIES) if r.random() < .7 else v_name(r)


def v_address(r):
    street = r.choice(STREETS) if r.random() < .7 else v_name(r)
    return "%d %s %s in %s" % (r.randint(1, 99), street,
                               r.choice(["Street", "Road", "Lane"]), v_city(r))


def v_channel(r):
    return r.choice(["email", "post", "text message", "letter", "phone", "courier",
                     "chat", "fax", "email on " + r.choice(DAYS),
                     "post in " + v_duration(r), "email within " + v_duration(r)])


def v_place(r):
    c = r.choice(COLOURS)
    return r.choice(["the front desk", "the %s desk" % c, "the %s counter" % c,
                     "gate %d" % r.randint(1, 40), "locker %d" % r.randint(1, 99),
                     "the station", "the %s door" % c, "the main hall",
                     "the office in " + v_city(r), "the shop on %s Street" % r.choice(STREETS),
                     "the counter next to the %s" % r.choice(["lift", "stairs", "door", "window"])])


def v_how(r):
    return r.choice(["on the login page", "in the app", "by email", "by phone",
                     "at " + v_place(r), "in your account", "on our website",
                     "with the link in your email", "with code %d" % r.randint(10, 99),
                     "by writing to " + v_name(r), "in the chat on " + r.choice(DAYS),
                     "by letter to " + v_city(r), "by calling " + v_phone(r)])


def v_often(r):
    return r.choice(["every week", "every month", "every year", "each " + r.choice(SEASONS),
                     "every %s %s" % (r.choice(NUMBERS), r.choice(UNITS[2:])),
                     "on the first day of the month", "on " + v_date(r),
                     "each " + r.choice(DAYS), "every " + r.choice(MONTHS),
                     "after " + v_duration(r)])


def v_limit(r):
    return r.choice(["before it ships", "within " + v_duration(r), "until " + v_clock(r),
                     "until " + r.choice(DAYS), "before " + v_clock(r), "at any time",
                     "for " + v_duration(r), "until it leaves " + v_city(r)])


def v_phone(r):
    return "%03d %04d" % (r.randint(100, 999), r.randint(0, 9999))


def v_pay(r):
    a, b = r.sample(["card", "cash", "bank transfer", "cheque", "gift card", "phone", "invoice"], 2)
    return r.choice([a, a + " or " + b, a + " and " + b])


def v_countries(r):
    return " and ".join(r.sample(COUNTRIES, r.choice([1, 2, 2])))


def v_money_to(r):
    return r.choice(["your card", "your bank account", "a gift card", "the card you used",
                     "your store balance", "your bank in " + v_city(r),
                     "the account of " + v_name(r), "card number %d" % r.randint(10, 99)])


def v_code(r):
    return "".join(r.choice("ABCDEFGHKLMNPRSTUVWXYZ") for _ in range(r.randint(2, 4))) + str(r.randint(1, 99))


def v_weight(r):
    return v_number(r) + " " + r.choice(["kilos", "pounds"])


def v_percent(r):
    return v_number(r) + " percent"


def v_points(r):
    return v_number(r) + " points"


# One topic: value maker, policy wordings, questions, the answer, a follow-up.
# "{v}" is the value; "{k}" (topics with a key) may occur several times in one
# policy with different keys.
TOPICS = {
    "parcel": (v_when,
               ["Parcels arrive {v}.", "All parcels arrive {v}.", "Each parcel arrives {v}.",
                "Your parcel arrives {v}.", "Every parcel we send arrives {v}.",
                "A parcel will arrive {v}.", "Parcels from our shop arrive {v}."],
               ["Where is my parcel?", "When does my parcel arrive?", "When will my parcel arrive?",
                "When is my parcel here?", "Where is the parcel now?"],
               "Your parcel arrives {v}.", "You can follow it on our page."),
    "refund": (v_duration,
               ["Refunds take {v}.", "A refund takes {v}.", "Refunds are paid within {v}.",
                "We pay a refund in {v}.", "You get your money back within {v}."],
               ["How long does a refund take?", "When do I get my refund?",
                "When do I get my money back?", "How long do refunds take?"],
               "A refund takes {v}.", "We will write to you when it is paid."),
    "refund_to": (v_money_to,
                  ["Refunds go to {v}.", "We send each refund to {v}.", "A refund goes to {v}.",
                   "The money from a refund goes to {v}."],
                  ["Where does my refund go?", "Where do you send my refund?",
                   "Where does the money go?"],
                  "Your refund goes to {v}.", "Please check it there."),
    "exchange": (v_duration,
                 ["Exchanges are possible for {v}.", "You can exchange an item for {v}.",
                  "An item can be exchanged within {v}.", "We exchange items for {v}."],
                 ["How long can I exchange an item?", "Can I exchange an item?",
                  "How long are exchanges possible?"],
                 "You can exchange it for {v}.", "Please bring the item with you."),
    "return": (v_duration,
               ["Returns are possible within {v}.", "You can return an item within {v}.",
                "Items can be returned within {v}.", "We take an item back within {v}."],
               ["How long can I return an item?", "Can I return an item?",
                "How long do I have to return it?", "Can I send it back?"],
               "You can return it within {v}.", "Please keep the label."),
    "opens": (v_clock,
              ["The shop opens at {v}.", "Our shop opens at {v}.", "The doors open at {v}.",
               "We open the shop at {v}."],
              ["When does the shop open?", "When do you open?", "What time do you open?"],
              "The shop opens at {v}.", "We are happy to see you there."),
    "closes": (v_clock,
               ["The shop closes at {v}.", "Our shop closes at {v}.", "The doors close at {v}.",
                "We close the shop at {v}."],
               ["When does the shop close?", "When do you close?", "What time do you close?"],
               "The shop closes at {v}.", "Please come a little before that."),
    "closed": (v_day,
               ["The shop is closed on {v}.", "We are closed on {v}.", "The doors stay closed on {v}."],
               ["On which day are you closed?", "When is the shop closed?", "Which day is the shop closed?"],
               "The shop is closed on {v}.", "You can write to us on that day."),
    "gift": (v_duration,
             ["Gift cards last {v}.", "A gift card lasts {v}.", "You can use a gift card for {v}.",
              "Gift cards are good for {v}."],
             ["How long does a gift card last?", "How long can I use my gift card?",
              "How long are gift cards good?"],
             "A gift card lasts {v}.", "The date is on the back."),
    "invoice": (v_channel,
                ["Invoices come by {v}.", "We send invoices by {v}.", "Each invoice is sent by {v}.",
                 "Your invoice comes by {v}."],
                ["How do I get my invoice?", "Where is my invoice?", "How do you send invoices?"],
                "Your invoice comes by {v}.", "Please keep it for your records."),
    "warranty": (v_duration,
                 ["The warranty lasts {v}.", "Our warranty lasts {v}.", "Items have a warranty of {v}.",
                  "We give a warranty of {v}."],
                 ["How long is the warranty?", "How long does the warranty last?",
                  "Do I have a warranty?"],
                 "The warranty lasts {v}.", "Please keep the receipt."),
    "password": (v_how,
                 ["Reset your password {v}.", "A password can be reset {v}.",
                  "You can reset a password {v}.", "Passwords are reset {v}."],
                 ["How do I reset my password?", "I forgot my password?", "Where do I reset my password?"],
                 "Reset your password {v}.", "It only takes a minute."),
    "account": (v_how,
                ["Close your account {v}.", "An account can be closed {v}.",
                 "You can close an account {v}.", "Accounts are closed {v}."],
                ["How do I close my account?", "Can I close my account?", "Where do I close my account?"],
                "You can close your account {v}.", "We keep no data after that."),
    "fee": (v_price,
            ["Delivery costs {v}.", "The delivery fee is {v}.", "We charge {v} for delivery.",
             "You pay {v} for delivery."],
            ["How much is delivery?", "What does delivery cost?", "What is the delivery fee?"],
            "Delivery costs {v}.", "The fee is shown before you pay."),
    "free": (v_price,
             ["Delivery is free over {v}.", "Orders over {v} have free delivery.",
              "We deliver for free over {v}."],
             ["When is delivery free?", "Is delivery free?", "Do you have free delivery?"],
             "Delivery is free over {v}.", "The basket shows how much is missing."),
    "address": (v_address,
                ["Send returns to {v}.", "Returns go to {v}.", "The address for returns is {v}.",
                 "Please send every return to {v}."],
                ["Where do I send a return?", "What is the returns address?", "Where do returns go?"],
                "Send your return to {v}.", "Please put the form in the box."),
    "repair": (v_duration,
               ["Repairs take {v}.", "A repair takes {v}.", "We repair an item in {v}.",
                "Our workshop needs {v} for a repair."],
               ["How long does a repair take?", "When is my repair done?", "How long do repairs take?"],
               "A repair takes {v}.", "We will call you when it is done."),
    "subscription": (v_often,
                     ["Subscriptions renew {v}.", "A subscription renews {v}.",
                      "Your subscription renews {v}.", "We renew each subscription {v}."],
                     ["When does my subscription renew?", "How often does my subscription renew?",
                      "When do you renew my subscription?"],
                     "Your subscription renews {v}.", "You can stop it in your account."),
    "cancel": (v_limit,
               ["Orders can be cancelled {v}.", "You can cancel an order {v}.",
                "We cancel an order for you {v}."],
               ["Can I cancel my order?", "How long can I cancel my order?", "How do I cancel?"],
               "You can cancel your order {v}.", "Please have the order number ready."),
    "phone": (v_phone,
              ["Our phone number is {v}.", "Call us on {v}.", "You can call our team on {v}.",
               "The number of the support desk is {v}."],
              ["What is your phone number?", "How can I call you?", "Which number can I call?"],
              "Our phone number is {v}.", "Someone will answer soon."),
    "pay": (v_pay,
            ["You can pay by {v}.", "We accept payment by {v}.", "Orders are paid by {v}.",
             "Please pay by {v}."],
            ["How can I pay?", "How do I pay?", "Which payment do you accept?"],
            "You can pay by {v}.", "Your payment is safe with us."),
    "pickup": (v_place,
               ["Pick up orders at {v}.", "Orders can be picked up at {v}.",
                "You can pick up an order at {v}.", "Orders wait for you at {v}."],
               ["Where do I pick up my order?", "Where can I pick up my order?", "Where is my order?"],
               "Pick up your order at {v}.", "Please bring your order number."),
    "student": (v_percent,
                ["Students get {v} off.", "Students pay {v} less.", "The student discount is {v}."],
                ["Is there a student discount?", "How much is the student discount?",
                 "What do students get?"],
                "Students get {v} off.", "Please show your student card."),
    "points": (v_points,
               ["You earn {v} for each order.", "Each order earns {v}.", "Members get {v} for each order."],
               ["How many points do I earn?", "How many points is an order?", "What do members get?"],
               "You earn {v} for each order.", "Points are added the next day."),
    "express": (v_duration,
                ["Express delivery takes {v}.", "Express orders take {v}.", "With express you wait {v}."],
                ["How long does express delivery take?", "How fast is express?",
                 "How long does express take?"],
                "Express delivery takes {v}.", "It can be chosen at the end."),
    "ship": (v_countries,
             ["We ship to {v}.", "Orders can be shipped to {v}.", "Our trucks go to {v}."],
             ["Where do you ship?", "Where do you ship to?", "Which countries do you ship to?"],
             "We ship to {v}.", "More places will follow."),
    "damage": (v_duration,
               ["Report damage within {v}.", "Damage must be reported within {v}.",
                "Tell us about damage within {v}."],
               ["How do I report damage?", "My item is broken?", "How long can I report damage?"],
               "Report damage within {v}.", "A photo helps us a lot."),
    "manager": (v_name,
                ["The manager is {v}.", "Our manager is called {v}.", "The shop is run by {v}."],
                ["Who is the manager?", "What is the name of the manager?", "Who runs the shop?"],
                "The manager is {v}.", "You can ask at the desk."),
    "code": (v_code,
             ["The discount code is {v}.", "Use the code {v} for a discount.",
              "The code of the month is {v}."],
             ["What is the discount code?", "Do you have a discount code?", "Which code can I use?"],
             "The discount code is {v}.", "Enter it before you pay."),
    "weight": (v_weight,
               ["A box may weigh {v}.", "A box can weigh up to {v}.", "The limit for a box is {v}."],
               ["How much may a box weigh?", "How heavy can a box be?", "What is the weight limit?"],
               "A box may weigh {v}.", "Heavy boxes are split in two."),
    "parking": (v_place,
                ["Parking is at {v}.", "You can park at {v}.", "Visitors park at {v}."],
                ["Where can I park?", "Where is the parking?", "Can I park there?"],
                "You can park at {v}.", "It is free for visitors."),
    # Topics with a key: several in one policy.
    "price": (v_price,
              ["The {k} costs {v}.", "You pay {v} for the {k}.", "The price of the {k} is {v}."],
              ["How much is the {k}?", "What does the {k} cost?", "What is the price of the {k}?"],
              "The {k} costs {v}.", "Prices include tax."),
    "staff": (v_place,
              ["{k} works at {v}.", "You find {k} at {v}.", "{k} sits at {v}."],
              ["Where is {k}?", "Where do I find {k}?", "Where does {k} work?"],
              "{k} works at {v}.", "Please be kind to our staff."),
    "thing": (v_place,
              ["The {k} is kept at {v}.", "You find the {k} at {v}.", "The {k} is sold at {v}."],
              ["Where is the {k}?", "Where do I find the {k}?", "Where can I see the {k}?"],
              "You find the {k} at {v}.", "Our team can show you the way."),
}
KEYED = {"price": lambda r: r.choice(COLOURS) + " " + r.choice(THINGS),
         "staff": v_name,
         "thing": lambda r: r.choice(COLOURS) + " " + r.choice(THINGS)}
PLAIN = [t for t in TOPICS if t not in KEYED]

# Sentences of shop prose that answer none of the questions.
GENERAL = [
    "Please keep your receipt in a safe place.", "We are sorry when something goes wrong.",
    "Our team is happy to help you.", "We read every message with care.",
    "A friendly word costs nothing.", "Boxes are made from old paper.",
    "Please write your name on the form.", "The form is on our website.",
    "Every order has its own number.", "The number is on the first page.",
    "We never share your data.", "Your data is safe with us.",
    "Please check the size before you order.", "A size guide is on the page of each item.",
    "Colours may look a little different on a screen.", "We do not answer late at night.",
    "Please be patient when the line is busy.", "Small parts are not for children.",
    "We like to hear what you think.", "You can leave a note for the driver.",
    "The driver will ring the bell.", "A neighbour may take the box for you.",
    "Please recycle the paper and the box.", "We use very little plastic.",
    "Some items are made by hand.", "New items come into the shop often.",
    "The shop is small but friendly.", "There is a coffee corner in the shop.",
    "Dogs are welcome in the shop.", "Children can play in the back room.",
    "Please do not wash the wool too hot.", "Old items can be given back to us.",
    "We thank you for your trust.", "A manager looks at every complaint.",
    "Complaints help us to do better.", "If you are not sure, ask us first.",
    "Terms may change from time to time.", "We tell you before the terms change.",
    "All prices include tax.", "A signature is needed at the door.",
    "Please do not send money by letter.", "The basket keeps your items for a while.",
    "Items in the sale are marked in red.", "The sale ends when the stock is gone.",
    "We check the stock before we confirm an order.", "You will see a message on the screen.",
    "Our newsletter is short and free.", "You can leave the newsletter when you like.",
    "The app is free and works on most phones.", "Please update the app from time to time.",
    "We pack glass with a lot of paper.", "Parcels are packed with care.",
    "Parcels are weighed before they leave.", "Large items are carried by two people.",
    "The support desk is on the ground floor.", "A ticket shows your place in the line.",
    "We speak more than one language here.", "Please speak slowly on the phone.",
    "It’s our job to make things right.", "You don’t need an account to order.",
    "The café next door is not part of the shop.", "Groups – schools, for example – are welcome.",
]
WHO = ["Our team", "The desk", "A colleague", "The night shift", "The warehouse", "Our driver",
       "The office", "Every agent", "The support desk", "The owner", "A new helper", "The front desk"]
DOES = ["checks every order", "packs each box by hand", "keeps a copy of the form", "answers letters",
        "reads every message", "sorts the shelves", "writes down the order number",
        "prints the labels", "counts the stock", "cleans the hall", "waters the plants",
        "tests the lamps", "updates the list", "thanks each visitor", "looks at old cases",
        "calls the bank", "opens the mail", "takes a short break", "meets the team",
        "tidies the windows", "moves the boxes", "checks the data", "makes fresh coffee",
        "looks after lost things", "learns something new"]

# The prose that follows when the end of an answer is passed over.
CLOSING = [
    "Thank you for writing to us.", "Our team is happy to help you.",
    "If you have another question, just ask.", "We read every message with care.",
    "Please keep your order number ready.", "You find it on the first page of your invoice.",
    "Our support desk can look at your order at once.", "We will tell you when something changes.",
    "You do not have to do anything now.", "If something is missing, please write to us.",
    "A colleague will look at it the same day.", "You can also visit our shop.",
    "The front desk will show you the way.", "There is fresh coffee for every visitor.",
    "We like to hear what you think.", "Your words help us to do better.",
    "Please tell your friends about us.", "Our page shows new items every week.",
    "You can save the ones you like.", "Your data is safe with us.",
    "We never share it with anyone.", "The terms are on our website.",
    "They are short and easy to read.", "If you are not sure, ask us first.",
    "We are here for you.", "Have a nice day.",
]


def held_out(value):
    """One value in ten never occurs in training, to evaluate on unseen ones."""
    return zlib.crc32(value.encode()) % 10 == 0


def make_value(r, topic, unseen):
    """A value for a topic: from the training part, or (unseen) mostly from the
    part that training never states.  A few topics have too few values to
    hold any out (a value of one or two words)."""
    maker = TOPICS[topic][0]
    v = maker(r)
    for _ in range(40):
        if len(v.split()) < 2 or held_out(v) == unseen:
            break
        v = maker(r)
    return v


def general_sentence(r):
    if r.random() < .4:
        return r.choice(GENERAL)
    s = r.choice(WHO) + " " + r.choice(DOES)
    k = r.randrange(12)
    if k < 9:
        s += " " + ["every " + r.choice(DAYS), "in the " + r.choice(PARTS), "at " + v_clock(r),
                    "with care", "in " + v_city(r), "twice a week", "after lunch",
                    "with " + v_name(r), "in " + r.choice(MONTHS)][k]
    return s + "."


# --------------------------------------------------------------------------
# Tokenizer: SentencePiece-style BPE
# --------------------------------------------------------------------------

EXTRA_CHARS = "éèêëáàâäåãçíìîïñóòôöõøúùûüßæœÉÖÜÄÅØ–—’‘“”…£€°·" + SPACE
ONE_TOKEN = ("You are a support agent Answer from the policy Where is my arrives "
             "arrive today Your on").split()
NEVER_JOIN = {"parcel": ("par", "cel"), "parcels": ("par", "cel", "s"),
              "Parcel": ("Par", "cel"), "Parcels": ("Par", "cel", "s")}


class Tokenizer:
    def __init__(self, tokens, scores, types):
        self.tokens, self.scores, self.types = tokens, scores, types
        self.index = {t: i for i, t in enumerate(tokens)}
        self.cache = {}

    def encode_plain(self, text, bos=True):
        """The reference algorithm: leading space, spaces to U+2581, then merge
        the adjacent pair whose joined piece scores highest (ties: leftmost)
        until no pair joins; characters without a piece become bytes."""
        sym = list((" " + text if text else "").replace(" ", SPACE))
        while True:
            best, at = -1e30, -1
            for i in range(len(sym) - 1):
                t = self.index.get(sym[i] + sym[i + 1])
                if t is not None and t >= FIRST_PIECE and self.scores[t] > best:
                    best, at = self.scores[t], i
            if at < 0:
                break
            sym[at:at + 2] = [sym[at] + sym[at + 1]]
        ids = [BOS] if bos else []
        for s in sym:
            t = self.index.get(s)
            if t is not None and t >= FIRST_PIECE:
                ids.append(t)
            else:
                ids.extend(BYTE0 + b for b in s.encode("utf-8"))
        return ids

    def encode(self, text, bos=True):
        """Same result, faster: no piece has U+2581 past its start, so words
        are independent and can be cached."""
        ids = [BOS] if bos else []
        for word in text.split(" "):
            w = self.cache.get(word)
            if w is None:
                w = self.cache[word] = self.encode_plain(word, False) or [self.index[SPACE]]
            ids.extend(w)
        return ids

    def decode(self, ids):
        out = bytearray()
        for t in ids:
            if self.types[t] == 6:
                out.append(t - BYTE0)
            elif self.types[t] == 1:
                out += self.tokens[t].replace(SPACE, " ").encode()
            else:
                out += self.tokens[t].encode()
        s = out.decode("utf-8", "replace")
        return s[1:] if s.startswith(" ") else s


def split_words(text):
    """Units inside which pieces may form: letters with the space before them;
    a digit alone or with its space; every other character alone."""
    units, word = [], ""
    for c in (" " + text).replace(" ", SPACE):
        if c == SPACE:
            units.append(word)
            word = c
        elif c.isalpha():
            word += c
        elif c.isdigit() and word == SPACE:
            units.append(word + c)
            word = ""
        else:
            units += [word, c]
            word = ""
    units.append(word)
    out = []
    for u in units:
        bare = u.lstrip(SPACE)
        if bare in NEVER_JOIN:
            parts = NEVER_JOIN[bare]
            out += [u[:len(u) - len(bare)] + parts[0], *parts[1:]]
        elif u:
            out.append(u)
    return out


def train_tokenizer(seed, size):
    r = random.Random("tokenizer%d" % seed)
    counts = {}

    def add(text, n=1):
        for u in split_words(text):
            counts[u] = counts.get(u, 0) + n

    for _ in range(6000):
        for topic, (_, says, asks, answer, follow) in TOPICS.items():
            if r.random() < .15:
                v = make_value(r, topic, False)
                k = KEYED[topic](r) if topic in KEYED else ""
                for t in (r.choice(says), r.choice(asks), answer):
                    add(t.format(v=v, k=k))
        for _ in range(3):
            add(general_sentence(r))
    for s in GENERAL + CLOSING + [t[4] for t in TOPICS.values()]:
        add(s, 120)
    add(UNKNOWN_ANSWER, 400)
    for w in ONE_TOKEN + ["par", "Par"]:
        counts[SPACE + w] = counts.get(SPACE + w, 0) + 2000000
    counts["cel"] = counts.get("cel", 0) + 3000000

    chars = [chr(c) for c in range(33, 127)] + list(EXTRA_CHARS)
    words = [(list(w), n) for w, n in sorted(counts.items())]
    merges, known = [], set(chars)
    while FIRST_PIECE + len(merges) + len(chars) < size:
        pairs = {}
        for sym, n in words:
            for a, b in zip(sym, sym[1:]):
                pairs[a, b] = pairs.get((a, b), 0) + n
        (a, b), _ = max(pairs.items(), key=lambda kv: (kv[1], kv[0]))
        if a + b not in known:
            known.add(a + b)
            merges.append(a + b)
        for sym, _ in words:
            i = 0
            while i < len(sym) - 1:
                if sym[i] == a and sym[i + 1] == b:
                    sym[i:i + 2] = [a + b]
                i += 1
    pieces = merges + chars
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)] + pieces
    scores = [0.0] * FIRST_PIECE + [-float(i) for i in range(len(pieces))]
    types = [2, 3, 3] + [6] * 256 + [1] * len(pieces)
    tok = Tokenizer(tokens, scores, types)
    check_tokenizer(tok)
    return tok


def check_tokenizer(tok):
    got = [tok.tokens[i] for i in tok.encode_plain(BASE_PROMPT)]
    assert got == BASE_PIECES, got
    got = [tok.tokens[i] for i in tok.encode_plain("Your parcel arrives today.", False)]
    assert got == BASE_ANSWER[:-1], got
    for t in tok.tokens[FIRST_PIECE:]:
        assert SPACE not in t[1:]
        assert len(t) == 1 or t.strip(SPACE).isalpha() or (t[0] == SPACE and t[1:].isdigit()), t
        if len(t) > 1 and t[0] != SPACE or len(t) > 2:
            assert any(t[:i] in tok.index and t[i:] in tok.index for i in range(1, len(t))), t
    r = random.Random(1)
    for _ in range(300):
        s = general_sentence(r)
        assert tok.encode(s) == tok.encode_plain(s)


# --------------------------------------------------------------------------
# Training examples
# --------------------------------------------------------------------------

class Policy:
    """Policy tokens plus, for each stated fact, where it stands in them."""

    def __init__(self, tok, r, length, unseen=False, dense=None):
        # dense: the share of sentences that state a fact.
        dense = r.choice([.25, .5, .8]) if dense is None else dense
        ids, facts = [], {}
        plain = r.sample(PLAIN, len(PLAIN))
        general = set()
        while len(ids) < length:
            if r.random() < dense:
                if plain and r.random() < .75:
                    topic, key = plain.pop(), ""
                else:
                    topic = r.choice(list(KEYED))
                    key = KEYED[topic](r)
                    if (topic, key) in facts:
                        continue
                value = make_value(r, topic, unseen)
                says = r.choice(TOPICS[topic][1])
                text = says.format(v=value, k=key)
                # From where on the fact can still be read when the front is
                # cut off: the word before the value (only for the parcel).
                core = len(ids)
                head = says.split("{v}")[0].split()
                if topic == "parcel":
                    core += len(tok.encode(" ".join(head[:-1]), False))
                facts[topic, key] = (value, len(ids), core)
            else:
                text = general_sentence(r)
                if text in general and r.random() < .9:
                    continue
                general.add(text)
            ids += tok.encode(text, False)
        self.cut = 0
        if r.random() < .6:         # front cut at any token
            self.cut = len(ids) - length
        self.ids = ids[self.cut:]
        self.facts = facts

    def answer(self, topic, key):
        """The answer's text, or None where the cut makes it ambiguous."""
        if (topic, key) in self.facts:
            value, start, core = self.facts[topic, key]
            if start >= self.cut or (topic == "parcel" and core >= self.cut):
                return TOPICS[topic][3].format(v=value, k=key)
            if topic != "parcel" and start > self.cut - 30:
                return None
        if topic == "parcel":
            return "Your parcel arrives today."
        return UNKNOWN_ANSWER

    def ask(self, r, present):
        """A (topic, key) to ask about, stated in the policy or not."""
        if present and self.facts:
            here = [f for f, (_, start, core) in self.facts.items() if core >= self.cut]
            if here:
                return r.choice(here)
        topic = r.choice(list(TOPICS))
        key = KEYED[topic](r) if topic in KEYED else ""
        return topic, key


def tail_text(r, topic, long):
    """Support-desk prose after the answer, in a steady order so that a greedy
    continuation walks through it and does not turn in a small circle."""
    n = 24 if long else r.randint(1, 4)
    start = 0 if r.random() < .6 else r.randrange(len(CLOSING))
    return " ".join([TOPICS[topic][4]] + [CLOSING[(start + i) % len(CLOSING)] for i in range(n)])


W_PROSE, W_QUESTION, W_ANSWER, W_TAIL, W_ECHO = .25, .05, 1.0, .3, .5


def make_example(tok, r, length, blocks, tails, echo=0.0):
    """A prompt's start (<s>, instruction, policy) of about `length` tokens and
    `blocks` questions with their answers.  Each question sees the start and
    itself only, so that one policy pays for many answers.
    A share `echo` of the blocks repeats a piece of the policy instead (with
    echo = 1 a policy of random words): dense practice in copying, which the
    answers need.
    Returns (tokens, weights) of the start and a list of such pairs; a weight
    is the token's weight in the loss."""
    kind = r.random()
    ids, weight = [BOS], [0.0]
    policy = Policy(tok, r, length - 18)
    if echo == 1:
        policy.ids = [r.randrange(FIRST_PIECE, CONFIG["vocab"]) for _ in range(max(18, length - 14))]
        kind = 1
    if length <= 18 and r.random() < .15:   # the base prompt, cut at the front
        head = tok.encode(INSTRUCTION, False)
        ids += head[min(r.randint(1, len(head) + 4), len(head)):]
    elif kind < .94 or length <= 18:
        ids += tok.encode(INSTRUCTION, False)
    weight += [.05] * (len(ids) - 1)
    ids += policy.ids                       # one in 16: shop prose alone
    weight += [0.0 if echo == 1 else W_PROSE if kind < .94 else 1.0] * len(policy.ids)
    out = []
    while len(out) < blocks:
        if len(policy.ids) > 16 and r.random() < echo:
            i = r.randint(0, len(policy.ids) - 14)
            seq = policy.ids[i:i + r.randint(14, 24)]
            out.append((seq, [0.0] * 2 + [W_ECHO] * (len(seq) - 2)))
            continue
        if not out and r.random() < .5:
            topic, key = "parcel", ""
        else:
            topic, key = policy.ask(r, r.random() < .85)
        answer = policy.answer(topic, key)
        if answer is None:
            continue
        asks = TOPICS[topic][2]
        question = QUESTION if topic == "parcel" and r.random() < .6 else r.choice(asks)
        q = tok.encode(question.format(k=key), False)
        if len(ids) == 1:                   # nothing left but the question's end
            q = q[r.randint(0, len(q) - 1):] if topic == "parcel" else q
        a = tok.encode(answer, False)
        seq = q + a
        w = [W_QUESTION] * len(q) + [W_ANSWER] * len(a)
        if tails == 0 or r.random() < .85:
            seq.append(EOS)
            w.append(W_ANSWER)
        if tails:
            t = tok.encode(tail_text(r, topic, tails > 1), False)
            seq += t
            w += [W_TAIL] * len(t)
        out.append((seq, w))
    return (ids, weight), out


# Prompt lengths by bucket (for the curriculum and the evaluation), the share
# of training steps of each in the stages of the curriculum, and the shapes that
# batches of a bucket may have: longest start, questions for each.  Few shapes,
# since every new one costs the matrix library some preparation.
LENGTHS = [(18, 18), (19, 48), (49, 110), (111, 230), (231, 480), (481, 1024)]
STAGES = [(.15, [.02, .42, .56, .0, .0, .0]),
          (.50, [.02, .18, .40, .30, .10, .0]),
          (1.0, [.03, .14, .22, .25, .22, .14])]
SHAPES = [[(18, 8)], [(32, 8), (48, 8)], [(64, 8), (80, 8), (112, 8)],
          [(144, 12), (184, 12), (232, 12)], [(304, 16), (384, 16), (480, 16)],
          [(640, 20), (832, 20), (1024, 20)]]


def make_batch(tok, seed, step, progress, budget):
    """The batch of one step, about `budget` tokens, packed: all starts one
    after the other, then all questions and answers, then a little padding."""
    r = random.Random("%d/%d" % (seed, step))
    share = next(s for end, s in STAGES if progress <= end)
    i = r.choices(range(len(LENGTHS)), share)[0]
    P, K = r.choice(SHAPES[i])
    shorter = max([p for row in SHAPES for p, _ in row if p < P], default=P - 1)
    tails, echo = 0, .15 if progress < STAGES[0][0] else .04
    if P > 18 and r.random() < (.12 if progress < STAGES[0][0] else .02):
        echo = 1
    M = 32
    k = r.random()
    if echo < 1 and k < .14:                # answers that go on for a while
        tails, K, M = 1, K // 2, 96
    elif echo < 1 and k < .19:              # or for long
        tails, K, M = 2, 2, 288
    B = max(1, round(budget / (P * .9 + K * [21, 60, 220][tails])))
    rows = []
    while len(rows) < B:
        start, qs = make_example(tok, r, r.randint(shorter + 1, P), K, tails, echo)
        if len(start[0]) <= P and all(len(q) <= M for q, _ in qs):
            rows.append((start, qs))
    ids, pos, target, weight = [], [], [], []
    pre = np.zeros((B, P), np.int64)        # where each token of a start is
    blk = np.zeros((B * K, M), np.int64)    # where each token of a block is
    back = []                               # and the way back
    pre_ok = np.zeros((B, P), bool)

    def put(seq, w, start, index, base):
        n = len(seq)
        index[:n] = range(len(ids), len(ids) + n)
        back.extend(range(base, base + n))
        ids.extend(seq)
        pos.extend(range(start, start + n))
        target.extend(seq[1:] + [0])
        weight.extend(w[1:] + [0.0])

    for b, (s, _) in enumerate(rows):
        put(*s, 0, pre[b], b * P)
        pre_ok[b, :len(s[0])] = True
    for b, (s, qs) in enumerate(rows):
        for j, q in enumerate(qs):
            m = b * K + j
            put(*q, len(s[0]), blk[m], B * P + m * M)
    used = len(ids)
    for x, v in ((ids, 0), (pos, 0), (target, 0), (weight, 0.0), (back, 0)):
        x.extend([v] * (-used % 512))
    weight = np.array(weight, np.float32)
    keep = np.flatnonzero(weight)
    keep = np.concatenate((keep, np.full(-len(keep) % 256, used - 1)))
    return dict(ids=np.array(ids), pos=np.array(pos), target=np.array(target)[keep],
                weight=weight[keep], keep=keep, used=np.array(used), back=np.array(back),
                index=np.concatenate((pre.ravel(), blk.ravel())), pre_ok=pre_ok,
                shape=np.array([B, P, B * K, M]))


# --------------------------------------------------------------------------
# Model (PyTorch, for training)
# --------------------------------------------------------------------------

def build_model(torch):
    nn, F = torch.nn, torch.nn.functional
    c = CONFIG
    D, H, KV, FF = c["dim"], c["heads"], c["kv_heads"], c["ff"]
    HD = D // H

    class Spread(torch.autograd.Function):
        """From packed tokens to padded rows; nothing flows back from padding."""
        @staticmethod
        def forward(ctx, x, index, back):
            ctx.back = back
            return x.index_select(0, index)

        @staticmethod
        def backward(ctx, g):
            return g.index_select(0, ctx.back), None, None

    class Gather(torch.autograd.Function):
        """And from padded rows to packed tokens."""
        @staticmethod
        def forward(ctx, x, back, used):
            ctx.back, ctx.n = back[:int(used)], len(x)
            return x.index_select(0, back)

        @staticmethod
        def backward(ctx, g):
            out = g.new_zeros(ctx.n, *g.shape[1:])
            return out.index_copy_(0, ctx.back, g[:len(ctx.back)]), None, None

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(D))

        def forward(self, x):
            return F.rms_norm(x, (D,), self.weight, c["eps"])

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attn_norm, self.ffn_norm = Norm(), Norm()
            self.attn_q = nn.Linear(D, H * HD, bias=False)
            self.attn_k = nn.Linear(D, KV * HD, bias=False)
            self.attn_v = nn.Linear(D, KV * HD, bias=False)
            self.attn_output = nn.Linear(H * HD, D, bias=False)
            self.ffn_gate = nn.Linear(D, FF, bias=False)
            self.ffn_up = nn.Linear(D, FF, bias=False)
            self.ffn_down = nn.Linear(FF, D, bias=False)

        def forward(self, x, cos, sin, lay):
            h = self.attn_norm(x)
            q = rotate(self.attn_q(h).view(-1, H, HD), cos, sin)
            k = rotate(self.attn_k(h).view(-1, KV, HD), cos, sin)
            v = self.attn_v(h).view(-1, KV, HD)
            x = x + self.attn_output(attend(q, k, v, lay))
            h = self.ffn_norm(x)
            return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))

    def weigh(q, k, v, mask):
        """Plain attention; faster here than the fused kernel's backward pass."""
        with torch.autocast("cpu", enabled=False):
            s = (q * HD ** -.5) @ k.transpose(-1, -2) + mask
            return torch.softmax(s, -1) @ v

    def attend(q, k, v, lay):
        """Causal attention inside the starts; then each block of a row over
        its row's start and itself.  The query heads that share a key head
        stand side by side as more queries."""
        B, P, BK, M = lay["shape"].tolist()
        K, G = BK // B, H // KV
        q, k, v = (Spread.apply(t, lay["index"], lay["back"]) for t in (q, k, v))
        n = B * P
        kp, vp = k[:n].view(B, P, KV, HD), v[:n].view(B, P, KV, HD)
        wide = lambda t: t[:, :, :, None].expand(B, P, KV, G, HD).reshape(B, P, H, HD).transpose(1, 2)
        qw, kw, vw = q[:n].view(B, P, H, HD).transpose(1, 2), wide(kp), wide(vp)
        a = torch.cat([weigh(qw[:, :, i:i + 192], kw[:, :, :i + 192], vw[:, :, :i + 192],
                             lay["causal"][i:i + 192, :i + 192]) for i in range(0, P, 192)], 2)
        a = a.transpose(1, 2).reshape(n, H * HD)
        both = lambda p, t: torch.cat((p[:, None].expand(B, K, P, KV, HD).reshape(BK, P, KV, HD),
                                       t[n:].view(BK, M, KV, HD)), 1).transpose(1, 2)
        qb = q[n:].view(BK, M, KV, G, HD).permute(0, 2, 3, 1, 4).reshape(BK, KV, G * M, HD)
        c = weigh(qb, both(kp, k), both(vp, v), lay["mask"])
        c = c.view(BK, KV, G, M, HD).permute(0, 3, 1, 2, 4).reshape(BK * M, H * HD)
        return Gather.apply(torch.cat((a, c)), lay["back"], lay["used"])

    def rotate(x, cos, sin):
        """RoPE on neighbouring pairs (2i, 2i+1)."""
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2).to(x.dtype)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.token_embd = nn.Embedding(c["vocab"], D)
            self.blk = nn.ModuleList(Block() for _ in range(c["layers"]))
            self.output_norm = Norm()
            # Tied weights serve two ends: the embedding large enough to stay
            # readable in the residual stream, the logits small at the start.
            self.output_norm.weight.data.fill_(.2)
            for name, p in self.named_parameters():
                if p.dim() == 2:
                    std = .3 if "embd" in name else .02
                    if "attn_output" in name or "ffn_down" in name:
                        std = .02 / math.sqrt(2 * c["layers"])
                    nn.init.normal_(p, 0, std)

        def forward(self, lay):
            freq = c["rope_base"] ** (-torch.arange(0, HD, 2).float() / HD)
            angle = lay["pos"][:, None].float() * freq
            cos, sin = angle.cos()[:, None], angle.sin()[:, None]
            x = self.token_embd(lay["ids"])
            for b in self.blk:
                x = b(x, cos, sin, lay)
            return self.output_norm(x)

    return seed_copying(torch, Model())


def seed_copying(torch, model):
    """Start the model with a rough copying circuit instead of waiting for it to
    appear by chance, which takes most of a short training: in layer 0 one head
    of each group looks at the previous token and notes which one it was; in
    layers 1 and 2 such heads look for a place whose previous token was the
    current one and copy the token there ("A B ... A" -> "B").  Training is
    free to change all of it.

    Places in the residual stream: 0 is a constant, 1..127 the token, 128..191
    the note about the previous token."""
    c = CONFIG
    HD, G = c["dim"] // c["heads"], c["heads"] // c["kv_heads"]
    freq = c["rope_base"] ** (-np.arange(0, HD, 2) / HD)
    with torch.no_grad():
        e = model.token_embd.weight
        e[:, 1:128] *= 1.23
        e[:, 128:] *= .05
        e[:, 0] = 1.0
        att = [dict(b.named_parameters()) for b in model.blk]
        W = lambda layer, name: att[layer]["attn_%s.weight" % name]
        for g in range(c["kv_heads"]):
            q0, k0 = g * G * HD, g * HD     # rows of the group's first head
            token = 1 + 32 * g
            note = 128 + 32 * g
            # Layer 0: scores peak at distance one, whatever the tokens are.
            for f, peak in enumerate((14, 10, 6, 4)):
                a = math.sqrt(peak * HD ** .5) / 3.2
                W(0, "q")[q0 + 2 * f, 0] += a
                W(0, "k")[k0 + 2 * f, 0] += a * math.cos(freq[f])
                W(0, "k")[k0 + 2 * f + 1, 0] += a * math.sin(freq[f])
            for i in range(32):
                W(0, "v")[k0 + i, token + i] += 1
                W(0, "output")[note + i, q0 + i] += .4
            # Layers 1 and 2: match in the slowly turning pairs, copy the rest.
            for layer in (1, 2):
                half = 16 * (layer - 1)
                for i in range(16):
                    a = 1.4 if i < 4 else 1.8
                    W(layer, "q")[q0 + 16 + i, token + half + i] += a
                    W(layer, "k")[k0 + 16 + i, note + half + i] += a
                copied = token + (64 if layer == 1 else 0)
                for i in range(min(32, 128 - copied)):
                    W(layer, "v")[k0 + i, copied + i] += 1
                    W(layer, "output")[copied + i, q0 + i] += .6
    return model


def make_muon(torch, params, lr):
    """Muon: momentum, then the update's nearest orthogonal matrix (by a
    Newton-Schulz iteration, matrices of one shape together)."""
    groups = {}
    for p in params:
        groups.setdefault(tuple(p.shape), []).append(p)
    state = {s: torch.zeros(len(ps), *s) for s, ps in groups.items()}

    def step(scale, momentum=.95, decay=.03):
        for s, ps in groups.items():
            g = torch.stack([p.grad for p in ps])
            m = state[s]
            m.lerp_(g, 1 - momentum)
            u = g.lerp(m, momentum)
            u = (u / (u.norm(dim=(1, 2), keepdim=True) + 1e-7)).bfloat16()
            flip = s[0] > s[1]
            if flip:
                u = u.mT
            for _ in range(5):
                a = u @ u.mT
                u = 3.4445 * u + (-4.7750 * a + 2.0315 * a @ a) @ u
            if flip:
                u = u.mT
            rate = lr * scale
            for p, d in zip(ps, u):
                p.data.mul_(1 - rate * decay).add_(d.float(), alpha=-rate * max(1, s[0] / s[1]) ** .5)

    return step, state


def add_masks(torch, lay, dtype):
    """What a block's tokens see: the row's start and, causally, themselves."""
    B, P, BK, M = lay["shape"].tolist()
    start = lay["pre_ok"][:, None, None].expand(B, BK // B, M, P).reshape(BK, M, P)
    own = torch.ones(M, M, dtype=torch.bool).tril().expand(BK, M, M)
    mask = torch.zeros((BK, M, P + M), dtype=dtype).masked_fill_(~torch.cat((start, own), 2), -1e9)
    G = CONFIG["heads"] // CONFIG["kv_heads"]
    lay["mask"] = mask[:, None, None].expand(BK, 1, G, M, P + M).reshape(BK, 1, G * M, P + M)
    lay["causal"] = torch.full((P, P), -1e9, dtype=dtype).triu(1)


def train(args):
    import torch
    F = torch.nn.functional
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    os.makedirs(args.work, exist_ok=True)
    tok = train_tokenizer(args.seed, CONFIG["vocab"])
    model = build_model(torch)
    n_params = sum(p.numel() for p in model.parameters())
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embd" not in n]
    others = [p for n, p in model.named_parameters() if p.dim() < 2 or "embd" in n]
    muon, muon_state = make_muon(torch, matrices, args.lr)
    adam = torch.optim.AdamW(others, lr=args.lr * .5, betas=(.9, .95), weight_decay=0.0)
    step, seen, spent, ema = 0, 0, 0.0, None
    path = os.path.join(args.work, "checkpoint.pt")
    if args.resume and os.path.exists(path):
        ck = torch.load(path, weights_only=True)
        model.load_state_dict(ck["model"])
        adam.load_state_dict(ck["adam"])
        for s, m in muon_state.items():
            m.copy_(ck["muon"][str(s)])
        step, seen, spent, ema = ck["step"], ck["seen"], ck["spent"], ck["ema"]
    log = open(os.path.join(args.work, "train.log"), "a")

    def say(*a):
        line = time.strftime("%H:%M:%S ") + " ".join(str(x) for x in a)
        print(line, flush=True)
        log.write(line + "\n")
        log.flush()

    def save():
        torch.save(dict(model=model.state_dict(), adam=adam.state_dict(),
                        muon={str(s): m for s, m in muon_state.items()}, step=step,
                        seen=seen, spent=spent, ema=ema, seed=args.seed), path + ".new")
        os.replace(path + ".new", path)

    stop = []
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: stop.append(1))     # save, then end
    say("params", n_params, "start at step", step)
    last_save = last_log = time.time()
    acc = {}
    while True:
        t0 = time.time()
        progress = step / args.steps if args.steps else spent / (args.minutes * 60)
        if progress >= 1 or stop:
            break
        warm = min(1, (step + 1) / 100)
        scale = warm * (1 if progress < args.flat else max(.02, (1 - progress) / (1 - args.flat)))
        lay = {k: torch.from_numpy(v) for k, v in make_batch(
            tok, args.seed, step, progress, args.batch).items()}
        add_masks(torch, lay, torch.bfloat16 if args.bf16 else torch.float32)
        w, target = lay["weight"], lay["target"]
        with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
            logits = model(lay).index_select(0, lay["keep"]) @ model.token_embd.weight.T
        loss = F.cross_entropy(logits.float(), target, reduction="none")
        total = (loss * w).sum() / w.sum()
        total.backward()
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        muon(scale)
        for g in adam.param_groups:
            g["lr"] = args.lr * .5 * scale
        adam.step()
        model.zero_grad(set_to_none=True)
        with torch.no_grad():
            answers, echoes = w == W_ANSWER, w == W_ECHO
            mean = lambda m: float(loss.detach()[m].mean()) if bool(m.any()) else float("nan")
            counted = answers if bool(answers.any()) else echoes
            hit = float((logits[counted].argmax(-1) == target[counted]).float().mean())
        ema = float(total.detach()) if ema is None else ema * .98 + float(total.detach()) * .02
        bucket = next(hi for lo, hi in LENGTHS if lay["shape"][1] <= hi + 8)
        if not bool(answers.any()):
            bucket = 0                      # a batch of random words
        acc.setdefault(bucket, []).append((mean(answers), hit, mean(echoes)))
        seen += int(lay["used"])
        step += 1
        spent += time.time() - t0
        if time.time() - last_log > 20:
            say("step %d %.3f loss %.3f tokens %.2fM lr %.3f" % (step, progress, ema, seen / 1e6, scale),
                "%.0f tok/s" % (seen / spent),
                " ".join("%d:%.2f/%.3f/%.2f" % (k, *(np.nanmean(c) if np.isfinite(c).any() else math.nan
                                                       for c in np.array(v).T)) for k, v in sorted(acc.items())))
            last_log, acc = time.time(), {}
        if time.time() - last_save > 100:
            save()
            last_save = time.time()
    save()
    say("done", step, "steps", "%.2fM tokens" % (seen / 1e6), "%.1f min" % (spent / 60), "loss %.4f" % ema)


# --------------------------------------------------------------------------
# GGUF
# --------------------------------------------------------------------------

def write_gguf(path, tok, weights):
    """weights: name -> float32 array as [out, in]; matrices stored as F16."""
    c = CONFIG
    meta = []

    def string(s):
        b = s.encode("utf-8")
        return struct.pack("<Q", len(b)) + b

    def put(key, kind, value):
        pack = {4: "<I", 5: "<i", 6: "<f", 7: "<?"}
        if kind == 8:
            body = struct.pack("<I", 8) + string(value)
        elif isinstance(value, list):
            items = (b"".join(map(string, value)) if kind == -8 else
                     b"".join(struct.pack(pack[-kind], v) for v in value))
            body = struct.pack("<IIQ", 9, -kind, len(value)) + items
        else:
            body = struct.pack("<I", kind) + struct.pack(pack[kind], value)
        meta.append(string(key) + body)

    put("general.architecture", 8, "llama")
    put("general.name", 8, "tokendrip")
    put("general.description", 8, "A small support-desk model that answers from a shop policy; "
                                  "made for tokendrip's pictures.")
    put("general.license", 8, "MIT")
    put("general.file_type", 4, 1)
    put("general.alignment", 4, 32)
    put("llama.context_length", 4, c["context"])
    put("llama.embedding_length", 4, c["dim"])
    put("llama.block_count", 4, c["layers"])
    put("llama.feed_forward_length", 4, c["ff"])
    put("llama.attention.head_count", 4, c["heads"])
    put("llama.attention.head_count_kv", 4, c["kv_heads"])
    put("llama.attention.layer_norm_rms_epsilon", 6, c["eps"])
    put("llama.rope.dimension_count", 4, c["dim"] // c["heads"])
    put("llama.rope.freq_base", 6, c["rope_base"])
    put("llama.vocab_size", 4, c["vocab"])
    put("tokenizer.ggml.model", 8, "llama")
    put("tokenizer.ggml.pre", 8, "default")
    put("tokenizer.ggml.tokens", -8, tok.tokens)
    put("tokenizer.ggml.scores", -6, tok.scores)
    put("tokenizer.ggml.token_type", -5, tok.types)
    put("tokenizer.ggml.bos_token_id", 4, BOS)
    put("tokenizer.ggml.eos_token_id", 4, EOS)
    put("tokenizer.ggml.unknown_token_id", 4, UNK)
    put("tokenizer.ggml.add_bos_token", 7, True)
    put("tokenizer.ggml.add_eos_token", 7, False)
    put("tokenizer.ggml.add_space_prefix", 7, True)

    infos, blobs, offset = [], [], 0
    for name, w in weights.items():
        kind = 1 if w.ndim == 2 else 0
        data = w.astype("<f2" if kind else "<f4").tobytes()
        dims = w.shape[::-1]
        infos.append(string(name) + struct.pack("<I", len(dims)) +
                     b"".join(struct.pack("<Q", d) for d in dims) + struct.pack("<IQ", kind, offset))
        data += b"\0" * (-len(data) % 32)
        blobs.append(data)
        offset += len(data)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(meta)) + b"".join(meta + infos)
    head += b"\0" * (-len(head) % 32)
    with open(path + ".new", "wb") as f:
        f.write(head + b"".join(blobs))
    os.replace(path + ".new", path)


def read_gguf(path):
    """(metadata, weights as float32, tokenizer) of a GGUF with F16/F32 tensors."""
    with open(path, "rb") as f:
        data = f.read()
    at = 4

    def num(fmt):
        nonlocal at
        v = struct.unpack_from("<" + fmt, data, at)[0]
        at += struct.calcsize("<" + fmt)
        return v

    def string():
        nonlocal at
        n = num("Q")
        s = data[at:at + n].decode("utf-8")
        at += n
        return s

    def value(kind):
        if kind == 8:
            return string()
        if kind == 9:
            sub, n = num("I"), num("Q")
            return [value(sub) for _ in range(n)]
        return num({0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?",
                    10: "Q", 11: "q", 12: "d"}[kind])

    assert data[:4] == b"GGUF" and num("I") == 3
    n_tensors, n_meta = num("Q"), num("Q")
    meta = {}
    for _ in range(n_meta):
        key = string()
        meta[key] = value(num("I"))
    infos = []
    for _ in range(n_tensors):
        name = string()
        dims = [num("Q") for _ in range(num("I"))]
        infos.append((name, dims, num("I"), num("Q")))
    at += -at % 32
    weights = {}
    for name, dims, kind, offset in infos:
        w = np.frombuffer(data, "<f2" if kind == 1 else "<f4", math.prod(dims), at + offset)
        weights[name] = w.astype(np.float32).reshape(dims[::-1])
    tok = Tokenizer(meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.scores"],
                    meta["tokenizer.ggml.token_type"])
    return meta, weights, tok


def export(args):
    import torch
    ck = torch.load(os.path.join(args.work, "checkpoint.pt"), weights_only=True)
    tok = train_tokenizer(ck["seed"], CONFIG["vocab"])
    sd = {k: v.float().numpy() for k, v in ck["model"].items()}
    order = ["token_embd.weight"]
    for i in range(CONFIG["layers"]):
        order += ["blk.%d.%s.weight" % (i, n) for n in
                  ("attn_norm attn_q attn_k attn_v attn_output ffn_norm "
                   "ffn_gate ffn_up ffn_down").split()]
    order.append("output_norm.weight")
    assert sorted(order) == sorted(sd)
    write_gguf(args.out, tok, {k: sd[k] for k in order})
    print("%s: %d bytes, %d parameters, step %d, %.2fM tokens, %.1f min" % (
        os.path.basename(args.out), os.path.getsize(args.out),
        sum(v.size for v in sd.values()), ck["step"], ck["seen"] / 1e6, ck["spent"] / 60))


# --------------------------------------------------------------------------
# Evaluation with an independent float32 forward pass (numpy only)
# --------------------------------------------------------------------------

class Runner:
    """One sequence at a time, with a key/value cache."""

    def __init__(self, path):
        self.meta, self.w, self.tok = read_gguf(path)
        self.k = [None] * CONFIG["layers"]
        self.n = 0

    def reset(self):
        self.k = [None] * CONFIG["layers"]
        self.n = 0

    def feed(self, ids, every=False):
        """Append tokens; the logits of the last one (of every one), float32."""
        c, w, n = CONFIG, self.w, len(ids)
        H, KV = c["heads"], c["kv_heads"]
        HD = c["dim"] // H
        f = np.float32

        def norm(x, g):
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + f(c["eps"])) * g

        pos = np.arange(self.n, self.n + n)
        angle = pos[:, None] * c["rope_base"] ** (-np.arange(0, HD, 2) / HD)
        cos, sin = np.cos(angle).astype(f)[:, None], np.sin(angle).astype(f)[:, None]

        def rope(x):
            y = np.empty_like(x)
            y[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
            y[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
            return y

        x = w["token_embd.weight"][ids]
        future = np.arange(self.n + n)[None, :] > pos[:, None]
        for i in range(c["layers"]):
            p = "blk.%d." % i
            h = norm(x, w[p + "attn_norm.weight"])
            q = rope((h @ w[p + "attn_q.weight"].T).reshape(n, H, HD))
            k = rope((h @ w[p + "attn_k.weight"].T).reshape(n, KV, HD))
            v = (h @ w[p + "attn_v.weight"].T).reshape(n, KV, HD)
            if self.n:
                k = np.concatenate((self.k[i][0], k))
                v = np.concatenate((self.k[i][1], v))
            self.k[i] = (k, v)
            out = np.empty((n, H, HD), f)
            for j in range(H):
                g = j // (H // KV)
                s = q[:, j] @ k[:, g].T / f(math.sqrt(HD))
                s[future] = -np.inf
                s = np.exp(s - s.max(-1, keepdims=True))
                out[:, j] = s / s.sum(-1, keepdims=True) @ v[:, g]
            x = x + out.reshape(n, -1) @ w[p + "attn_output.weight"].T
            h = norm(x, w[p + "ffn_norm.weight"])
            gate = h @ w[p + "ffn_gate.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * (h @ w[p + "ffn_up.weight"].T)) @ w[p + "ffn_down.weight"].T
        self.n += n
        return norm(x if every else x[-1], w["output_norm.weight"]) @ w["token_embd.weight"].T

    def greedy(self, ids, limit, past_end=False):
        """Greedy ids (the end token included) and the logits of each step."""
        self.reset()
        out, all_logits = [], []
        logits = self.feed(list(ids))
        while len(out) < limit:
            all_logits.append(logits)
            out.append(int(logits.argmax()))
            if (out[-1] == EOS and not past_end) or len(out) == limit:
                break
            logits = self.feed([out[-1]])
        return out, all_logits


def built_prompt(tok, n, policy_lines):
    """The prompt of exactly n tokens as tokendrip builds it: <s>, instruction,
    the end of the policy (lines joined by one space), question; for n <= 18
    <s> and the last n - 1 tokens of the base prompt."""
    base = tok.encode(BASE_PROMPT)
    if n <= len(base):
        return [BOS] + base[len(base) - (n - 1):]
    policy = tok.encode(" ".join(policy_lines), False)
    room = n - len(base)
    assert room <= len(policy), "policy.txt is too short"
    head = tok.encode(INSTRUCTION)
    return head + policy[len(policy) - room:] + tok.encode(QUESTION, False)


def policy_lines():
    with open(os.path.join(HERE, "policy.txt"), encoding="utf-8") as f:
        return [s.strip() for s in f if s.strip()]


SIZES = [19, 24, 32, 48, 64, 100, 128, 200, 256, 333, 512, 700, 1000, 1024]


def evaluate(args):
    run = Runner(args.out)
    tok = run.tok
    check_tokenizer(tok)
    show = lambda ids: tok.decode(ids)
    out, _ = run.greedy(tok.encode(BASE_PROMPT), 12)
    print("base prompt:", [tok.tokens[t] for t in out],
          "OK" if [tok.tokens[t] for t in out] == BASE_ANSWER else "WRONG")
    out, _ = run.greedy(tok.encode(BASE_PROMPT), args.forced, True)
    print("forced on:", show(out))
    if os.path.exists(os.path.join(HERE, "policy.txt")):
        for n in [2, 5, 9, 14, 17] + SIZES:
            out, _ = run.greedy(built_prompt(tok, n, policy_lines()), 24)
            print("policy.txt N=%-4d %s" % (n, show(out)))
    print("held-out policies (values never stated in training):")
    for lo, hi in LENGTHS:
        r = random.Random("heldout%d/%d" % (args.seed, lo))
        right = {"stated": [0, 0], "not stated": [0, 0], "parcel": [0, 0]}
        nll, ntok = 0.0, 0
        for _ in range(args.cases):
            n = r.randint(lo, hi)
            policy = Policy(tok, r, max(n - 18, 0), unseen=True)
            answer = None
            while answer is None:
                topic, key = policy.ask(r, r.random() < .75)
                if r.random() < .2:
                    topic, key = "parcel", ""
                answer = policy.answer(topic, key)
            q = (QUESTION if topic == "parcel" else r.choice(TOPICS[topic][2])).format(k=key)
            ids = tok.encode(INSTRUCTION) + policy.ids + tok.encode(q, False)
            want = tok.encode(answer, False) + [EOS]
            got, _ = run.greedy(ids, len(want) + 4)
            kind = "not stated" if answer == UNKNOWN_ANSWER else "parcel" if topic == "parcel" else "stated"
            right[kind][0] += got == want
            right[kind][1] += 1
            run.reset()
            lg = run.feed(ids + want, True)[len(ids) - 1:-1]
            lg = lg - lg.max(-1, keepdims=True)
            nll += float((np.log(np.exp(lg).sum(-1)) - lg[np.arange(len(want)), want]).sum())
            ntok += len(want)
            if got != want and args.verbose:
                print("   [%d] %s -> %s | want: %s" % (len(ids), q, show(got), answer))
        good = sum(a for a, _ in right.values())
        print("  length %4d-%-4d exact %.3f (%d/%d) loss %.3f  %s" % (
            lo, hi, good / args.cases, good, args.cases, nll / ntok,
            "  ".join("%s %d/%d" % (k, *v) for k, v in right.items() if v[1])))


def golden(args):
    run = Runner(args.out)
    tok = run.tok
    doc = dict(model=os.path.basename(args.out), bytes=os.path.getsize(args.out),
               crc32="%08x" % zlib.crc32(open(args.out, "rb").read()),
               note="ids: prompt tokens; greedy: the end token passed over; "
                    "logits_last: after the prompt; logits_step3: those the third answer token "
                    "is chosen from; float32 numpy pass over the F16 weights",
               prompts=[], encodings=[])
    for n in (18, 64, 256):
        ids = tok.encode(BASE_PROMPT) if n == 18 else built_prompt(tok, n, policy_lines())
        out, lg = run.greedy(ids, 16, True)
        doc["prompts"].append(dict(
            name="base" if n == 18 else "policy%d" % n, n=n, ids=ids, greedy=out,
            text=tok.decode(out),
            logits_last=[float("%.7g" % v) for v in lg[0]],
            logits_step3=[float("%.7g" % v) for v in lg[2]]))
    for s in [BASE_PROMPT, "Parcels arrive on Friday.", "", " ", "a", "Hello, world!",
              "two  spaces and a tab\tand\na newline", "café Zürich Straße – ’ …",
              "日本語 and 😀", "£4.50 or €12", "unknown-words: xylophone_42 (ok?)", "▁ <s> </s>"]:
        doc["encodings"].append(dict(text=s, ids=tok.encode_plain(s)))
    path = os.path.join(os.path.dirname(os.path.abspath(args.out)), "golden.json")
    text = json.dumps(doc, ensure_ascii=False, separators=(",", ":"))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace('{"name"', '\n{"name"').replace('{"text"', '\n{"text"') + "\n")
    print("golden.json:", os.path.getsize(path), "bytes")


def prompt(args):
    run = Runner(args.out)
    ids = run.tok.encode(args.text)
    out, _ = run.greedy(ids, args.forced, args.past_end)
    print(len(ids), "tokens ->", run.tok.decode(out))


def corpus(args):
    tok = train_tokenizer(args.seed, CONFIG["vocab"])
    print("pieces:", " ".join(tok.tokens[FIRST_PIECE:]))
    r = random.Random(args.seed)
    for n in (18, 60, 200):
        start, blocks = make_example(tok, r, n, 4, n == 60)
        for ids, _ in [start] + blocks:
            print("   ", tok.decode(ids))
    n = c = 0
    for _ in range(500):
        s = general_sentence(r)
        n += len(tok.encode(s, False))
        c += len(s.split())
    print("tokens a word: %.2f" % (n / c))
    t = time.time()
    n = sum(int(make_batch(tok, args.seed, i, .9, args.batch)["used"]) for i in range(20))
    print("corpus: %.0f tokens a second" % (n / (time.time() - t)))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("command", choices=["train", "export", "eval", "golden", "prompt", "corpus"])
    ap.add_argument("text", nargs="?", help="the prompt, for `prompt`")
    ap.add_argument("--out", default=os.path.join(HERE, "tokendrip.gguf"))
    ap.add_argument("--work", default="model-work", help="folder of the checkpoint and the log")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--minutes", type=float, default=60)
    ap.add_argument("--steps", type=int, default=0, help="instead of --minutes")
    ap.add_argument("--resume", action="store_true")
    ap.add_argument("--batch", type=int, default=2304, help="tokens a step")
    ap.add_argument("--lr", type=float, default=.004)
    ap.add_argument("--flat", type=float, default=.65, help="share of the run before the rate falls")
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--fp32", dest="bf16", action="store_false", help="no bfloat16 autocast")
    ap.add_argument("--cases", type=int, default=60, help="held-out cases a length bucket")
    ap.add_argument("--forced", type=int, default=120, help="tokens of a forced continuation")
    ap.add_argument("--past-end", action="store_true")
    ap.add_argument("--verbose", action="store_true")
    args = ap.parse_args()
    dict(train=train, export=export, eval=evaluate, golden=golden, prompt=prompt,
         corpus=corpus)[args.command](args)


if __name__ == "__main__":
    main()
