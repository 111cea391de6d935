/** Measures the console: how large its files are, and how long its pages take to show the first row. */
import { gunzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { median } from '../../dev/percentiles.ts'
import { startChromium } from '../../dev/servers/chromium.ts'
import { startEngine } from '../../dev/servers/engine.ts'
import { startServiceProcess } from '../../dev/servers/service.ts'
import { startWorker } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { CONSOLE_FILES, readConsoleFile } from '../../src/service/fronts/console/files.ts'

const TIMES = 15
const STEPS = 2000

for (const name of CONSOLE_FILES) {
  const packed = Buffer.from((await readConsoleFile(name))?.base64 ?? '', 'base64')
  const [plain, sent] = [gunzipSync(packed), packed].map(({ length }) => (length / 1000).toFixed(1))
  console.log(`${name.padEnd(12)} ${plain} kB, sent as ${sent} kB`)
}

const engine = await startEngine()
const catalog = 'console'
const worker = await startWorker({
  address: engine.address,
  taskQueue: catalog,
  workflowsPath: new URL('./console/workflows.ts', import.meta.url),
  activities: { validate: async () => {} },
})
const env = { SERVICE_CONSOLE_ON: 'true' }
const service = await startServiceProcess({ address: engine.address, catalog, env })
const browser = await startChromium()
try {
  const small = await start('steps', 100)
  const large = await start('steps', STEPS)
  for (let run = 0; run < 60; run++) await start('steps', 0)
  for (const id of [small, large])
    await until('the run has ended', async () => (await statusOf(id)) !== 'running', { timeoutMs: 300_000 })
  const pages: [name: string, path: string, role: 'row' | 'treeitem'][] = [
    ['runs', 'runs', 'row'],
    ['run', `run?id=${small}`, 'treeitem'],
    [`run of ${STEPS} steps`, `run?id=${large}`, 'treeitem'],
  ]
  for (const [name, path, role] of pages) {
    const times: number[] = []
    for (let turn = 0; turn <= TIMES; turn++) times.push(await firstRowMs(browser, path, role))
    const [, ...warm] = times
    console.log(
      `${name.padEnd(20)} first row after ${median(warm).toFixed(0)} ms (${Math.min(...warm).toFixed(0)} at least)`,
    )
  }
  await measureKeys(browser, large)
} finally {
  await browser.close()
  await service.kill()
  await worker.stop()
  await engine.kill()
}

async function start(workflowName: string, input: unknown): Promise<string> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() }
  const body = JSON.stringify({ workflowName, input })
  const response = await fetch(`${service.url}/workflow/start`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`start failed: ${response.status} ${await response.text()}`)
  return (await response.json()).workflowId
}

async function statusOf(workflowId: string): Promise<string> {
  return (await (await fetch(`${service.url}/workflow/${workflowId}/status`)).json()).status
}

/** From the beginning of the navigation, in a new profile: nothing is in its cache. */
async function firstRowMs(from: Browser, path: string, role: 'row' | 'treeitem'): Promise<number> {
  const page = await from.newPage()
  const selector = role === 'row' ? 'tbody tr' : '[role=treeitem]'
  await page.addInitScript((wanted) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector(wanted) === null) return
      observer.disconnect()
      requestAnimationFrame(() => performance.mark('first row'))
    }).observe(document, { childList: true, subtree: true })
  }, selector)
  await page.goto(`${service.url}/console/${path}`)
  const found = await page.waitForFunction(() => performance.getEntriesByName('first row')[0]?.startTime)
  const ms = Number(await found.jsonValue())
  await page.close()
  return ms
}

/** How long a key press in the timeline takes, with the rendering. */
async function measureKeys(from: Browser, workflowId: string): Promise<void> {
  const page = await from.newPage()
  await page.goto(`${service.url}/console/run?id=${workflowId}`)
  await page.getByRole('treeitem').first().waitFor()
  const times = await page.evaluate(async () => {
    const tree = document.querySelector('[role=tree]')
    const taken: number[] = []
    for (let turn = 0; turn < 50; turn++) {
      const begun = performance.now()
      tree?.dispatchEvent(new KeyboardEvent('keydown', { key: 'PageDown', bubbles: true }))
      await new Promise((resolve) => setTimeout(resolve))
      taken.push(performance.now() - begun)
    }
    return taken
  })
  const rows = await page.getByRole('treeitem').count()
  console.log(`${`key, ${rows} rows drawn`.padEnd(20)} ${median(times).toFixed(1)} ms`)
  await page.close()
}
