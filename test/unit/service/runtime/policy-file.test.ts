import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../../../../src/cli/dev/servers/until.ts'
import { readPolicyFile, watchPolicyFile } from '../../../../src/service/runtime/policy-file.ts'
import { test as base } from '../../../support/fixtures.ts'

/** A policy with one rule. All have the same size. */
function policyOf(name: string): string {
  return JSON.stringify({ version: 1, rules: [{ name, who: { token: `sha256:${'0a'.repeat(32)}` }, can: ['read'] }] })
}

/** Watches files, and records each event in its order. */
const test = base.extend('watch', ({ cleanup }) => async (path: string) => {
  const events: string[] = []
  const stop = watchPolicyFile({
    path,
    first: await readPolicyFile(path),
    names: { namespaces: ['default'] },
    everyMs: 2,
    log: (level, message, fields) => void events.push(`${level}: ${message} ${JSON.stringify(fields)}`),
    onPolicy: ({ rules }) => void events.push(`policy ${rules[0]?.name}`),
    onFailure: () => void events.push('failure'),
  })
  cleanup.defer(stop)
  return { events, stop, until: (event: string) => until(event, () => events.includes(event)) }
})

/** In one step: half a file would be a version of its own. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

test('watchPolicyFile: a new version is in force, and its warnings are logged (threat 4)', async ({
  folder,
  watch,
}) => {
  const path = join(folder, 'new.json')
  await replace(path, policyOf('first'))
  const watched = await watch(path)

  await replace(path, policyOf('other').replace('"can"', '"ids":["A:*"],"can"'))
  await watched.until('policy other')

  expect(watched.events).toEqual([
    expect.stringMatching(/^warn: SERVICE_POLICY_FILE \/rules\/0\/ids\/0 has upper-case/),
    'policy other',
    'info: a new policy is in force {"rules":1}',
  ])
})

test('watchPolicyFile: a broken version is logged and counted once, and the next valid one is in force (threat 4)', async ({
  folder,
  watch,
}) => {
  const path = join(folder, 'broken.json')
  await replace(path, policyOf('first'))
  const watched = await watch(path)

  await replace(path, '{"version":1,"rules":[{}],"s3cret":')
  await watched.until('failure')
  await replace(path, '{"version":2,"rules":[7]}')
  await until('it fails again', () => watched.events.filter((event) => event === 'failure').length === 2)
  await rm(path)
  await until('it is gone', () => watched.events.filter((event) => event === 'failure').length === 3)
  await replace(path, policyOf('again'))
  await watched.until('policy again')

  const said = (issues: string[]) =>
    `error: the new policy is not valid; the policy before it stays in force ${JSON.stringify({ issues })}`
  expect(watched.events.slice(0, 6)).toEqual([
    said(['SERVICE_POLICY_FILE is not valid JSON: line 1, column 36']),
    'failure',
    said(['SERVICE_POLICY_FILE /version must be 1', 'SERVICE_POLICY_FILE /rules/0 must be an object']),
    'failure',
    said(['SERVICE_POLICY_FILE names a file that cannot be read (ENOENT)']),
    'failure',
  ])
})

test('watchPolicyFile: follows a symbolic link that is replaced, as Kubernetes does (threat 4)', async ({
  folder,
  watch,
}) => {
  const mount = join(folder, 'mount')
  for (const name of ['first', 'other']) {
    await mkdir(join(mount, name), { recursive: true })
    await writeFile(join(mount, name, 'policy.json'), policyOf(name))
  }
  await symlink('first', join(mount, '..data'))
  await symlink(join('..data', 'policy.json'), join(mount, 'policy.json'))
  const watched = await watch(join(mount, 'policy.json'))

  await symlink('other', join(mount, '..new'))
  await rename(join(mount, '..new'), join(mount, '..data'))

  await watched.until('policy other')
})

test('watchPolicyFile: looks no more after it is stopped', async ({ folder, watch }) => {
  const path = join(folder, 'stopped.json')
  await replace(path, policyOf('first'))
  const [stopped, running] = [await watch(path), await watch(path)]

  stopped.stop()
  await replace(path, policyOf('other'))
  await running.until('policy other')

  expect(stopped.events).toEqual([])
})
