/** The console as it is used: by keyboard, in many tabs, on a bad network, by a shared URL, and on workerd. */
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { wranglerOf } from '../support/entries.ts'
import { apiOf, LARGE_ORDER, open, setHidden, test } from './console-fixture.ts'
import { newPage, PATIENT, watchProblems } from './page-checks.ts'

test(
  'console: by keyboard alone a workflow is started, a message is sent, and the timeline is walked',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { page, problems } = await open(browser, `${serviceProcess.url}/console/runs`)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const { keyboard } = page

    await tabTo(page.getByRole('link', { name: 'Start', exact: true }), 'Enter')
    await tabTo(page.getByRole('link', { name: /^order/ }), 'Enter')
    await page.getByRole('form', { name: 'Start order' }).waitFor()
    for (const [name, value] of Object.entries(LARGE_ORDER)) {
      await tabTo(page.getByLabel(name, { exact: true }))
      await keyboard.type(String(value))
    }
    await tabTo(button('Start'), 'Enter')
    await tabTo(button('Send approve…'), 'Enter')
    await keyboard.type('Ada')
    await keyboard.press('Enter')
    await page.getByText('Completed in').waitFor()
    await tabTo(page.getByRole('tree'))
    const walked: string[] = []
    for (const key of ['End', 'Home', 'ArrowLeft', 'ArrowDown', 'ArrowRight', 'ArrowDown']) {
      await keyboard.press(key)
      const [row = ''] = await page.getByRole('treeitem', { selected: true }).allInnerTexts()
      walked.push(`${key}: ${row.split(/\s+/, 2).join(' ')} of ${await page.getByRole('treeitem').count()}`)
    }
    await keyboard.press('+')
    const zoomed = await button('Fit').isEnabled()
    await keyboard.press('0')
    await expect.poll(() => button('Fit').isEnabled()).toBe(false)
    await page.close()

    expect(walked).toEqual([
      'End: Activity ship of 5',
      'Home: Workflow order of 5',
      'ArrowLeft: Workflow order of 1',
      'ArrowDown: Workflow order of 1',
      'ArrowRight: Workflow order of 5',
      'ArrowDown: Activity validate of 5',
    ])
    expect([zoomed, problems]).toEqual([true, []])
  },
)

test(
  'console: one press starts one run, and an open page keeps being read, behind a proxy that cuts connections',
  PATIENT,
  async ({ browser, serviceProcess, cleanup }) => {
    const { call, post } = apiOf(serviceProcess)
    const proxy = await startTcpProxy(new URL(serviceProcess.url).host)
    cleanup.defer(() => proxy.close())
    const page = await newPage(browser)
    const runs = async () =>
      (await call('GET', `/workflow/runs?workflowName=trip&catalog=${serviceProcess.catalog}`)).body.runs
    const alert = page.getByRole('alert')

    await page.goto(`http://${proxy.address}/console/start?workflow=trip`)
    await page.getByLabel('input').fill('ada')
    const run = page.getByRole('button', { name: 'Run', exact: true })
    await run.click()
    await until('the run is listed', async () => (await runs()).length > 0)
    proxy.cut()
    const [{ workflowId }] = await runs()
    await post(`${workflowId}/signal/book`)
    const result = page.getByRole('region', { name: 'Result' })
    // The browser itself may send it again.
    await result.or(alert).waitFor()
    if ((await result.count()) === 0) await run.click()
    await result.getByText('Completed').waitFor()
    const started = await runs()

    const { body: other } = await post('start', { workflowName: 'order', input: LARGE_ORDER })
    await page.goto(`http://${proxy.address}/console/run?id=${other.workflowId}`)
    await page.getByText('Live').waitFor()
    proxy.interrupt()
    await alert.getByText('The service cannot be reached.').waitFor()
    const kept = await page.getByRole('treeitem').count()
    proxy.restore()
    await post(`${other.workflowId}/signal/approve`, { payload: { by: 'Ada' } })
    await page.getByText('Completed in').waitFor()
    const alerts = await alert.count()
    await page.close()

    expect(started.map((one: { workflowId: string }) => one.workflowId)).toEqual([workflowId])
    expect([kept > 1, alerts]).toEqual([true, 0])
  },
)

test(
  'console: six tabs with open runs do not wait for the connections of each other',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url, start } = apiOf(serviceProcess)
    const { body: run } = await start('order', LARGE_ORDER)
    // HTTP/1.1 has six connections to a host, for all tabs of a profile.
    const profile = await browser.newContext()
    const tabs: Page[] = []

    for (let at = 0; at < 6; at++) {
      for (const tab of tabs.slice(-1)) await setHidden(tab, true)
      const tab = await profile.newPage()
      tabs.push(tab)
      await tab.goto(`${url}/console/run?id=${run.workflowId}`)
      await tab.getByText('Live').waitFor()
    }
    const [first, last] = [tabs.at(0), tabs.at(-1)] as [Page, Page]
    await setHidden(last, true)
    await setHidden(first, false)
    await first.getByText('Live').waitFor()
    await first.getByRole('button', { name: 'Send approve…' }).click()
    const form = first.getByRole('form', { name: 'Signal approve' })
    await form.getByLabel('by').fill('Ada')
    await form.getByRole('button', { name: 'Send signal' }).click()
    await first.getByText('Completed in').waitFor()
    await setHidden(last, false)
    await last.getByText('Completed in').waitFor()
    await profile.close()
  },
)

test('console: reload, back and a shared URL keep what is seen', PATIENT, async ({ browser, serviceProcess }) => {
  const { url, start } = apiOf(serviceProcess)
  const { body: run } = await start('order', LARGE_ORDER)
  const page = await newPage(browser)
  const problems = watchProblems(page, [url])
  await page.goto(`${url}/console/runs`)

  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Workflow', { exact: true }).fill('order')
  await page.getByLabel('Started after').fill('2026-01-01T12:30')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('link', { name: /^Running \d/ }).click()
  const row = page.getByRole('row', { name: run.workflowId })
  await row.waitFor()
  const filtered = [page.url(), ...(await filtersOf(page))]
  await page.getByRole('link', { name: run.workflowId }).click()
  await page.getByRole('treeitem').first().waitFor()
  await page.goBack()
  await row.waitFor()
  const back = [page.url(), ...(await filtersOf(page))]
  await page.reload()
  await row.waitFor()
  const reloaded = [page.url(), ...(await filtersOf(page))]
  const other = await newPage(browser)
  await other.goto(page.url())
  await other.getByRole('row', { name: run.workflowId }).waitFor()
  const shared = [other.url(), ...(await filtersOf(other))]
  await Promise.all([page.close(), other.close()])

  expect(filtered.slice(1)).toEqual(['order', '', '2026-01-01T12:30', '', '', '', '', ''])
  expect([back, reloaded, shared]).toEqual([filtered, filtered, filtered])
  expect(problems).toEqual([])
})

test(
  'console: on workerd it is served from the assets, and a run is started and approved there',
  PATIENT,
  async ({ browser, catalog, engine, worker: _, cleanup }) => {
    const served = await wranglerOf(join(await ensureBundles(), 'workerd.js'))({
      SERVICE_CATALOG_ID: catalog,
      SERVICE_CONSOLE_ON: 'true',
      SERVICE_ALLOW_ANONYMOUS: 'true',
      ENGINE_ADDRESS: engine.address,
    })
    cleanup.defer(() => served.stop())
    const { page, problems } = await open(browser, `${served.url}/console`)

    await page.getByRole('link', { name: 'Start', exact: true }).click()
    await page.getByRole('link', { name: /^order/ }).click()
    for (const [name, value] of Object.entries(LARGE_ORDER)) await page.getByLabel(name).fill(String(value))
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('Live').waitFor()
    await page.getByRole('button', { name: 'Send approve…' }).click()
    const form = page.getByRole('form', { name: 'Signal approve' })
    await form.getByLabel('by').fill('Ada')
    await form.getByRole('button', { name: 'Send signal' }).click()
    await page.getByText('Completed in').waitFor()
    await page.getByRole('link', { name: 'Runs' }).first().click()
    await page.getByRole('row').nth(1).waitFor()
    await page.close()

    expect(problems).toEqual([])
  },
)

/** Presses Tab until the element has the focus, and then the key. */
async function tabTo(element: Locator, key?: string): Promise<void> {
  await element.waitFor()
  const focused = element.and(element.page().locator(':focus'))
  for (let presses = 0; (await focused.count()) === 0; presses++) {
    if (presses === 100) throw new Error(`Tab does not reach ${element}`)
    await element.page().keyboard.press('Tab')
  }
  if (key !== undefined) await element.page().keyboard.press(key)
}

/** What stands in the fields of the filter. */
async function filtersOf(page: Page): Promise<string[]> {
  const fields = await page.getByRole('form', { name: 'Filter runs' }).locator('input').all()
  return Promise.all(fields.map((field) => field.inputValue()))
}
