"""Chromium without a screen, by the DevTools protocol on a pipe.

    with Browser(profile) as b:
        b.open('page.html')
        b.eval('document.title')
        b.key('r')
        b.shot('page.png')
"""
import json
import os
import shutil
import subprocess

NAMES = ('chromium', 'chromium-browser')
KEYS = {'Enter': 13, 'Escape': 27, 'ArrowLeft': 37, 'ArrowUp': 38,
        'ArrowRight': 39, 'ArrowDown': 40}


def found():
    """The path of the browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, profile, width=1280, height=900):
        to_read, self.out = os.pipe()
        self.read, to_write = os.pipe()

        def pipes():  # it reads 3 and writes 4
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.size = width, height
        self.process = subprocess.Popen(
            [found(), '--headless', '--no-sandbox', '--disable-gpu',
             '--disable-quic', '--no-first-run', '--hide-scrollbars',
             '--disable-background-networking', '--disable-sync',
             '--disable-component-update', '--disable-dev-shm-usage',
             '--remote-debugging-pipe', '--user-data-dir=' + profile,
             'about:blank'],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.id, self.session = b'', 0, None
        self.requests, self.errors = [], []
        target = self.send('Target.createTarget', url='about:blank')
        self.session = self.send('Target.attachToTarget', flatten=True,
                                 targetId=target['targetId'])['sessionId']
        for domain in 'Page', 'Runtime', 'Network', 'Log':
            self.send(domain + '.enable')
        self.resize(width, height)

    def resize(self, width, height):
        self.send('Emulation.setDeviceMetricsOverride', width=width,
                  height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.send('Browser.close')
        except OSError:
            pass
        self.process.wait()
        os.close(self.out)
        os.close(self.read)

    def message(self):
        while b'\0' not in self.buffer:
            some = os.read(self.read, 1 << 20)
            if not some:
                raise OSError('the browser has ended')
            self.buffer += some
        text, self.buffer = self.buffer.split(b'\0', 1)
        said = json.loads(text)
        method, params = said.get('method'), said.get('params', {})
        if method == 'Network.requestWillBeSent':
            self.requests.append(params['request']['url'])
        elif method == 'Runtime.exceptionThrown':
            self.errors.append(params['exceptionDetails'].get(
                'exception', {}).get('description', 'an exception'))
        elif method == 'Log.entryAdded' and \
                params['entry']['level'] == 'error':
            self.errors.append(params['entry']['text'])
        return said

    def send(self, method, **params):
        self.id += 1
        what = {'id': self.id, 'method': method, 'params': params}
        if self.session:
            what['sessionId'] = self.session
        os.write(self.out, json.dumps(what).encode() + b'\0')
        while True:
            said = self.message()
            if said.get('id') == self.id:
                if 'error' in said:
                    raise ValueError('%s: %s' % (method, said['error']))
                return said.get('result', {})

    def open(self, path):
        self.requests, self.errors = [], []
        self.send('Page.navigate', url='file://' + os.path.abspath(path))
        while self.message().get('method') != 'Page.loadEventFired':
            pass
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.eval('new Promise(done => requestAnimationFrame(() => '
                  'requestAnimationFrame(() => setTimeout(done))))')

    def eval(self, text):
        result = self.send('Runtime.evaluate', expression=text,
                           awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in result:
            raise ValueError(result['exceptionDetails'])
        return result['result'].get('value')

    def key(self, *names):
        for name in names:
            text = {} if len(name) > 1 else {'text': name}
            code = KEYS.get(name, 0)
            if name == 'Enter':
                text = {'text': '\r'}
            self.send('Input.dispatchKeyEvent', type='keyDown', key=name,
                      windowsVirtualKeyCode=code, **text)
            self.send('Input.dispatchKeyEvent', type='keyUp', key=name,
                      windowsVirtualKeyCode=code)
        self.settle()

    def click(self, x, y):
        for kind in 'mousePressed', 'mouseReleased':
            self.send('Input.dispatchMouseEvent', type=kind, x=x, y=y,
                      button='left', clickCount=1)
        self.settle()

    def dark(self, is_dark):
        self.send('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme',
             'value': 'dark' if is_dark else 'light'}])
        self.settle()

    def shot(self, path, whole=True):
        import base64
        clip = {}
        if whole:
            height = self.eval('document.documentElement.scrollHeight')
            clip = {'clip': {'x': 0, 'y': 0, 'width': self.size[0],
                             'height': height, 'scale': 1},
                    'captureBeyondViewport': True}
        data = self.send('Page.captureScreenshot', format='png', **clip)
        with open(path, 'wb') as f:
            f.write(base64.b64decode(data['data']))
