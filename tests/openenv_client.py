"""OpenEnv's own client at work, run by the Python that has it (`.ci/openenv`); prints one JSON object a line.

python openenv_client.py many ADDRESS COUNT REPLIES     that many sessions, open at once; REPLIES: a JSON list
python openenv_client.py one ADDRESS REPLIES            says that it has begun, then waits for its first answer
python openenv_client.py on ADDRESS COUNT REPLIES       one episode after the other, begun anew after every failure;
                                                            in the middle of the fourth it waits for a line on stdin
"""

import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from openenv.core import GenericEnvClient


def say(**told):
    print(json.dumps(told), flush=True)


def client(address):
    return GenericEnvClient(base_url=address, message_timeout_s=280, connect_timeout_s=60).sync()


def many(address, count, replies):
    together = threading.Barrier(count, timeout=250)

    def session(number):
        with client(address) as env:
            opened = env.reset(seed=number, subject=f"flower {number}", references=2, return_image=number % 4 == 0)
            together.wait()
            told = env.step({"response": replies[number]})
            return {
                "number": number, "prompt": opened.observation["prompt"], "observation": told.observation,
                "reward": told.reward, "done": told.done, "state": env.state(),
            }  # fmt: skip

    with ThreadPoolExecutor(count) as sessions:
        for told in sessions.map(session, range(count)):
            say(**told)  # by one thread: a line with a picture is more than a pipe takes in one piece


def one(address, replies):
    with client(address) as env:
        env.reset()
        say(begun=True)
        say(reward=env.step({"response": replies[0]}).reward)


def on(address, count, replies):
    failures = 0
    for number in range(count):
        while True:
            env = client(address)
            try:
                with env:
                    env.reset(seed=number)
                    if number == 3 and not failures:
                        say(waiting=True)
                        sys.stdin.readline()
                    told = env.step({"response": replies[number]})
                break
            except Exception:
                failures += 1
                time.sleep(0.2)
        say(number=number, failures=failures, observation=told.observation, reward=told.reward)


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    numbers, answers = [int(n) for n in rest[:-1]], json.loads(rest[-1])
    {"many": many, "one": one, "on": on}[what](where, *numbers, answers)
