# A tool server written with one of the Python SDKs: mcp 1, mcp 2 or FastMCP, whichever is installed.
#   python python-server.py [http <port>]
import base64
import os
import sys

try:
    from fastmcp import FastMCP
    from fastmcp.utilities.types import Image
except ImportError:
    try:
        from mcp.server.mcpserver import Image, MCPServer as FastMCP
    except ImportError:
        from mcp.server.fastmcp import FastMCP, Image

PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
# Sets are written in another order at each start.
FIELDS = {'summary', 'status', 'labels', 'created', 'updated', 'assignee'}
server = FastMCP('python')


@server.tool(description='Fields: ' + ','.join(FIELDS))
def echo(text: str, fields: str = ','.join(FIELDS)) -> str:
    return text


@server.tool()
def process() -> int:
    return os.getpid()


@server.tool()
def rows(count: int) -> dict:
    return {'rows': ['x' * 100] * count}


@server.tool()
def picture() -> Image:
    return Image(data=base64.b64decode(PIXEL), format='png')


@server.tool()
def url() -> str:
    return 'data:image/png;base64,' + PIXEL


@server.tool()
def fail() -> str:
    raise ValueError('out of paper')


@server.tool()
def noisy() -> str:
    print('written to the output by mistake')
    return 'heard'


@server.tool(name='группы')
def groups(имя: str) -> str:
    return имя


if __name__ == '__main__':
    if len(sys.argv) == 1:
        server.run()
    else:
        import uvicorn
        app = server.http_app() if hasattr(server, 'http_app') else server.streamable_http_app()
        uvicorn.run(app, host='127.0.0.1', port=int(sys.argv[2]), log_level='warning')
