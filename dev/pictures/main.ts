/**
 * `npm run pictures`: records the quick start and a run, and takes the screenshots of the documents, from
 * `npm run dev`. Those of the console, which no document has, are written to `.cache/pictures/`.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startChromium } from '../servers/chromium.ts'
import { startEngine } from '../servers/engine.ts'
import { startProcess } from '../servers/process.ts'
import { startWorker } from '../servers/worker.ts'
import { drawQuickStart, recordQuickStart } from './quick-start.ts'
import { drawTimeline, recordTimeline, startOrder } from './timeline.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PICTURES = `${ROOT}docs/pictures/`
const SCREENS = `${ROOT}.cache/pictures/`
const PHONE = { width: 360, height: 440 }
const LAPTOP = { width: 1120, height: 620 }
const DEVICES = {
  laptop: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
} as const

// Long enough for the picture to shorten it.
const APPROVAL_MS = 65_000

const engine = await startEngine()
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const dev = await startProcess({
  command: 'npm',
  args: ['run', 'dev'],
  cwd: ROOT,
  env: {
    ...process.env,
    ENGINE_ADDRESS: engine.address,
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
  const run = await recordTimeline(url, APPROVAL_MS)
  await writeFile(new URL('timeline.json', import.meta.url), `${JSON.stringify(run, null, 2)}\n`)
  await writeFile(`${PICTURES}timeline.svg`, drawTimeline(run))
  const browser = await startChromium()
  await takeReferencePage(browser)
  await takeLinkPage(browser)
  await takeConsole(browser)
  await browser.close()
} finally {
  await dev.stop(10_000)
  await engine.stop()
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

/** Each page at the sizes and in the colors of a laptop and of a phone. */
async function takeConsole(browser: Browser): Promise<void> {
  const workflowsPath = new URL('./asking-workflow.ts', import.meta.url)
  const worker = await startWorker({ address: engine.address, taskQueue: 'refunds', workflowsPath })
  await post('/workflow/start', { workflowName: 'refund', catalog: 'refunds', args: [] })
  await post('/workflow/run', { workflowName: 'order', input: { orderId: '18', amount: 40, card: '0000' } })
  const workflowId = await startOrder(url)
  await mkdir(SCREENS, { recursive: true })
  const screens = { runs: 'Runs', run: 'order', questions: 'Questions', start: 'Start a workflow' }
  const parameters = { run: `?id=${workflowId}`, start: '?workflow=order' }
  for (const [name, heading] of Object.entries(screens))
    for (const [device, options] of Object.entries(DEVICES)) {
      const page = await browser.newPage(options)
      await page.goto(`${url}/console/${name}${parameters[name as keyof typeof parameters] ?? ''}`)
      await page.getByRole('heading', { name: heading }).first().waitFor()
      await page.locator('main:not([aria-busy="true"])').waitFor()
      await page.screenshot({ path: `${SCREENS}${name}-${device}.png`, fullPage: true })
      await page.close()
    }
  await worker.stop()
}

async function post(path: string, body: object): Promise<Record<string, string>> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`POST ${path} failed: ${response.status} ${await response.text()}`)
  return response.json()
}
