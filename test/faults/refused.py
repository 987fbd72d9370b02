# python3 refused.py: reads {"url", "method", "headers", "size", "chunked", "times"} from stdin, sends that request so many
# times with urllib, and prints a JSON list of [status, body] or [0, error].
import json
import sys
import urllib.error
import urllib.request

order = json.load(sys.stdin)
piece = b'x' * 65536
size = order['size']
body = b'x' * size


def chunks():
    for at in range(0, size, len(piece)):
        yield piece[:size - at]


def send():
    request = urllib.request.Request(order['url'], method=order['method'], headers=order['headers'],
                                     data=chunks() if order['chunked'] else body)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return [response.status, response.read().decode()]
    except urllib.error.HTTPError as refused:
        return [refused.code, refused.read().decode()]
    except Exception as error:
        return [0, repr(error)]


json.dump([send() for _ in range(order['times'])], sys.stdout)
