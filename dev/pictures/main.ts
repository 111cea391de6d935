/** `npm run pictures`: records the quick start and takes the screenshots of the documents, from `npm run dev`. */
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startChromium } from '../servers/chromium.ts'
import { startProcess } from '../servers/process.ts'
import { drawQuickStart, recordQuickStart } from './quick-start.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PICTURES = `${ROOT}docs/pictures/`
const PHONE = { width: 360, height: 440 }
const LAPTOP = { width: 1120, height: 620 }

const port = await freePort()
const url = `http://127.0.0.1:${port}`
const dev = await startProcess({
  command: 'npm',
  args: ['run', 'dev'],
  cwd: ROOT,
  env: {
    ...process.env,
    ENGINE_ADDRESS: undefined,
    SERVICE_PORT: String(port),
    SERVICE_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64url'),
    SERVICE_PUBLIC_URL: url,
  },
})
try {
  const signal = exitSignal(dev, 'npm run dev')
  await until('npm run dev is ready', () => dev.output().includes('Ready at'), { timeoutMs: 90_000, signal })
  const steps = await recordQuickStart(url)
  await writeFile(new URL('quick-start.json', import.meta.url), `${JSON.stringify(steps, null, 2)}\n`)
  await writeFile(`${PICTURES}quick-start.svg`, drawQuickStart(steps))
  const browser = await startChromium()
  await takeReferencePage(browser)
  await takeLinkPage(browser)
  await browser.close()
} finally {
  await dev.stop(10_000)
}

async function takeReferencePage(browser: Browser): Promise<void> {
  const page = await browser.newPage({ viewport: LAPTOP })
  await page.goto(`${url}/docs#/Workflows`)
  await page.locator('.opblock').first().waitFor()
  await page.screenshot({ path: `${PICTURES}reference-page.png` })
}

async function takeLinkPage(browser: Browser): Promise<void> {
  const order = { orderId: '17', amount: 120, card: '4242' }
  const { workflowId } = await post('/workflow/start', { workflowName: 'order', input: order })
  const link = await post(`/workflow/${workflowId}/links`, {
    title: 'Ship order 17 for 120 EUR?',
    signal: 'approve',
    choices: [
      { label: 'Approve', payload: { by: 'Ada' } },
      { label: 'Call me first', payload: { by: 'Ada' }, comment: 'required' },
    ],
  })
  const page = await browser.newPage({ viewport: PHONE, deviceScaleFactor: 2 })
  await page.goto(link.url ?? '')
  await page.screenshot({ path: `${PICTURES}link-page.png` })
}

async function post(path: string, body: object): Promise<Record<string, string>> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`POST ${path} failed: ${response.status} ${await response.text()}`)
  return response.json()
}
