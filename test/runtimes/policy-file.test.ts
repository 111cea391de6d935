/** The file of a policy that changes while the service runs. */
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { idleClock } from '../../lab/long/idle-clock.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { processOf } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'
import { announceErrors } from '../support/invariants.ts'
import { metricsOf, sumOf } from '../support/prometheus.ts'
import { promisedMs } from '../support/promises.ts'

/** Each with the path of the file, which Deno may read as `deno task start` allows it. */
const COMMANDS = {
  node: () => [process.execPath],
  bun: () => [bin('bun')],
  deno: (path: string) => [bin('deno'), 'run', ...DENO_PERMISSIONS, `--allow-read=${path}`],
}

const policyOf = (...rules: object[]) => JSON.stringify({ version: 1, rules })
const RULE = { name: 'ci', who: { token: `sha256:${'0a'.repeat(32)}` }, can: ['start'] }

/** The same rule, and a hook whose secret is in this variable. */
const withHook = (secretEnv: string) =>
  JSON.stringify({
    version: 1,
    rules: [RULE],
    hooks: { h: { scheme: 'github', secretEnv, start: { workflowName: 'any' } } },
  })

describe.concurrent('SERVICE_POLICY_FILE', () => {
  test.for(Object.entries(COMMANDS))(
    'on %s it is read again with its hooks, a broken version changes nothing, and the process ends on a signal (threats 4, 5) (failure 37)',
    async ([runtime, commandFor], { engine, folder }) => {
      announceErrors(/the new policy is not valid/)
      const path = join(folder, `${runtime}.json`)
      const [command = '', ...args] = commandFor(path)
      const replace = async (text: string) => {
        await writeFile(`${path}.new`, text)
        await rename(`${path}.new`, path)
      }
      await replace(policyOf())
      const serve = processOf(command, ...args, join(await ensureBundles(), `${runtime}.js`))
      const service = await serve({
        SERVICE_CATALOG_ID: 'any',
        SERVICE_HOST: '127.0.0.1',
        SERVICE_POLICY_FILE: path,
        SERVICE_HOOK_A: 's3cret',
        ENGINE_ADDRESS: engine.address,
      })
      const logged = (line: string) => until(`it logs ${line}`, () => service.output().includes(line))

      await replace(policyOf({ ...RULE, can: [] }))
      await logged('SERVICE_POLICY_FILE /rules/0/can must not be an empty array')
      await replace(policyOf(RULE))
      const sinceThen = idleClock(service)
      await logged('"message":"a new policy is in force","rules":1')
      const correctedAfterMs = sinceThen()
      const statusOfHook = async () => (await fetch(`${service.url}/hooks/h`, { method: 'POST', body: '{}' })).status
      const before = await statusOfHook()
      await replace(withHook('SERVICE_HOOK_B'))
      await logged('SERVICE_POLICY_FILE /hooks/h/secretEnv names a variable that is not set')
      await replace(withHook('SERVICE_HOOK_A'))
      await until('the hook exists', async () => (await statusOfHook()) === 401)
      const failures = sumOf(await metricsOf(service), 'portico_policy_reload_failures_total')
      await service.stop()

      expect(correctedAfterMs).toBeLessThan(promisedMs(37, '5 s'))
      expect(failures).toBe(2)
      expect(before).toBe(404)
      expect(service.output()).not.toContain('s3cret')
      expect(service.output()).toMatch(/"open":false,"rules":0,"operators":false/)
      expect(await service.ended).toEqual({ code: 0, signal: null })
    },
  )
})
