/** The official conformance suite judges a service, also in scenarios of extensions, which it does not score. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { startStore } from '../support/external-storage.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { catalog } from './mcp/catalog.ts'
import { EXPECTED_FAILURES } from './mcp/expected-failures.ts'
import { ensureMcpConformance } from './tools.ts'

interface Check {
  id: string
  status: string
  errorMessage?: string
}

const test = sharedTest.extend('workerOptions', { scope: 'file' }, async ({ cleanup }) => {
  const store = await startStore({ thresholdBytes: 100_000 })
  cleanup.defer(() => store.stop())
  const { dataConverter } = store
  return { workflowsPath: new URL('./mcp/workflows.ts', import.meta.url), catalog, options: { dataConverter } }
})

test.for([
  { revision: '2026-07-28', leastPassed: 132, scenario: 'tasks-lifecycle' },
  { revision: '2025-11-25', leastPassed: 38, scenario: 'server-initialize' },
])(
  'conformance $revision: only the checks with a reason fail',
  async ({ revision, leastPassed, scenario }, { serviceProcess, folder }) => {
    const results = join(folder, revision)
    const args = ['server', '--url', `${serviceProcess.url}/mcp`, '--requirements', revision, '-o', results]
    const { ended, output } = await startProcess({
      command: process.execPath,
      args: [await ensureMcpConformance(), ...args],
    })
    await ended

    const checks = await readChecks(results)
    const ids = (...statuses: string[]) =>
      checks.flatMap((check) => (statuses.includes(check.status) ? [`${check.scenario}:${check.id}`] : []))
    const expected = Object.values(EXPECTED_FAILURES[revision] ?? {}).flat()
    expect(checks.map((check) => check.scenario)).toContain(scenario)
    expect(ids('FAILURE', 'WARNING').toSorted(), output()).toEqual(expected.toSorted())
    expect(ids('SUCCESS').length).toBeGreaterThanOrEqual(leastPassed)
  },
)

/** All checks of a run. Its folders are named `server-<scenario>-<time>`. */
async function readChecks(results: string): Promise<(Check & { scenario: string })[]> {
  const checks = (await readdir(results)).map(async (name) => {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
    const ofScenario: Check[] = JSON.parse(await readFile(join(results, name, 'checks.json'), 'utf8'))
    return ofScenario.map((check) => ({ ...check, scenario }))
  })
  return (await Promise.all(checks)).flat()
}
