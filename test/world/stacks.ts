/** HTTP stacks that repeat some requests by themselves. Some do so only on a connection that has been used. */
import type { Browser } from 'playwright-core'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import type { PythonPackage } from '../support/python-package.ts'
import { loadPackage, runGo, runJava, runPython } from './programs.ts'

export interface Sent {
  url: string
  /** Of a POST; without one it is a GET. */
  body?: string
  key?: string
}

export interface Received {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
  body: any
}

export interface Stack {
  name: string
  /** Sends one request. Returns the response that the caller gets. */
  send(sent: Sent, browser: Browser): Promise<Received>
}

const OKHTTP: Stack = {
  name: 'OkHttp',
  send: ({ url, body = '', key = '' }) => runJava('OkHttp', [url, body, key]),
}

const CHROMIUM: Stack = {
  name: 'fetch in Chromium',
  async send({ url, body, key }, browser) {
    const page = await browser.newPage()
    await page.goto(new URL('/health', url).href)
    const headers = { 'Content-Type': 'application/json', ...(key !== undefined && { 'Idempotency-Key': key }) }
    const init = body === undefined ? {} : { method: 'POST', headers, body }
    const received = await page.evaluate(
      async ([url, init]) => {
        const response = await fetch(url, init)
        return { status: response.status, body: await response.json() }
      },
      [url, init] as const,
    )
    await page.close()
    return received
  },
}

const CURL: Stack = {
  name: 'curl --retry',
  async send({ url, body, key }) {
    const headers = ['Content-Type: application/json', ...(key === undefined ? [] : [`Idempotency-Key: ${key}`])]
    const args = [...headers.flatMap((header) => ['-H', header]), ...(body === undefined ? [] : ['-d', body]), url]
    // Into a file, which has the last response only.
    const script = `file=$(mktemp); curl -s --retry 2 --retry-delay 1 -o "$file" -w '%{http_code}\\n' "$@"; cat "$file"; rm "$file"`
    const output = await runCommand({ command: 'sh', args: ['-euc', script, 'sh', ...args] })
    const [status, text = ''] = output.split('\n')
    return { status: Number(status), body: JSON.parse(text) }
  },
}

const JDK: Stack = {
  name: "Java's HttpClient",
  send: ({ url, body = '', key = '' }) => runJava('JavaHttpClient', [url, body, key]),
}

const GO: Stack = {
  name: "Go's net/http",
  send: ({ url, body = '', key = '' }) => runGo('send.go', [url, body, key]),
}

const AXIOS: Stack = {
  name: 'axios',
  async send({ url, body, key }) {
    const axios = await loadPackage('axios')
    const { status, data } = await axios({
      url,
      method: body === undefined ? 'GET' : 'POST',
      data: body,
      headers: { 'Content-Type': 'application/json', ...(key !== undefined && { 'Idempotency-Key': key }) },
      validateStatus: null,
    })
    return { status, body: data }
  },
}

/** Both libraries. */
export const PYTHON_CLIENTS: PythonPackage = {
  name: 'httpx and requests',
  version: '1',
  project: 'httpx',
  module: 'httpx, requests',
  requirements: 'clients.requirements.txt',
}

export const PYTHON_LIBRARIES = ['httpx', 'requests']

const PYTHON = PYTHON_LIBRARIES.map(
  (name): Stack => ({
    name,
    send: ({ url, body = '', key = '' }) => runPython('send.py', PYTHON_CLIENTS, [name, url, body, key]),
  }),
)

export const STACKS = [OKHTTP, JDK, CHROMIUM, CURL, GO, AXIOS, ...PYTHON]
