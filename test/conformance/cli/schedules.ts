/** Schedules on the command line, also those of a folder. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { cliTest as test } from './cli-fixture.ts'

// Other tests have sets, too, in the same namespace.
const SET = `billing-${crypto.randomUUID()}`

const DOCUMENT = { workflowName: 'nothing', input: null, when: { cron: ['0 3 * * *'] } }

export function cliSchedules(): void {
  test('portico schedule: put, get, ls, pause, unpause, trigger, backfill, times, rm', async ({ portico, folder }) => {
    const file = join(folder, 'document.json')
    await writeFile(file, JSON.stringify(DOCUMENT))
    const json = async (...args: string[]) => JSON.parse((await portico(['schedule', ...args])).stdout)
    const range = ['--from', '2026-01-01T00:00:00Z', '--until', '2026-01-02T00:00:00Z']

    const put = await json('put', 'cli', '-f', file)
    const exists = await portico(['schedule', 'put', 'cli', '-f', file, '--create'])
    const stale = await portico(['schedule', 'put', 'cli', '-f', file, '--if-match', 'AAAA'])

    expect([exists.code, stale.code]).toEqual([1, 1])
    expect(JSON.parse(stale.stdout)).toMatchObject({ error: 'PreconditionFailedError', scheduleId: 'cli' })
    expect(await json('get', 'cli')).toEqual(put)
    expect(await json('times', 'cli', ...range)).toEqual({ times: ['2026-01-01T03:00:00.000Z'], complete: true })
    expect(await json('pause', 'cli', '--reason', 'holiday')).toEqual({ scheduleId: 'cli', paused: true })
    // The list can be late.
    await expect
      .poll(async () => (await portico(['schedule', 'ls', '--paused', '--text'])).stdout)
      .toMatch(/^cli +nothing +paused +holiday$/m)
    expect(await json('unpause', 'cli')).toEqual({ scheduleId: 'cli', paused: false })
    expect(await json('trigger', 'cli', '--overlap', 'allow-all')).toEqual({ scheduleId: 'cli', accepted: true })
    expect(await json('backfill', 'cli', ...range)).toEqual({ scheduleId: 'cli', accepted: true })
    expect(await json('rm', 'cli')).toEqual({ scheduleId: 'cli', deleted: true })
  })

  test('portico schedule apply: a set becomes that of a folder, and nothing else changes', async ({
    portico,
    folder,
  }) => {
    const files = join(folder, 'schedules')
    await mkdir(files)
    const write = (id: string, more: object = {}) =>
      writeFile(join(files, `${id}.json`), JSON.stringify({ ...DOCUMENT, ...more }))
    const apply = async (...more: string[]) => {
      const { code, stdout } = await portico(['schedule', 'apply', files, '--set', SET, ...more])
      const rows = JSON.parse(stdout).schedules.map((row: Record<string, string>) => [
        row.scheduleId,
        row.error ?? row.action,
      ])
      return { code, ...Object.fromEntries(rows) }
    }
    await write('apply-a')
    await write('apply-b')

    expect(await apply('--dry-run')).toEqual({ code: 0, 'apply-a': 'create', 'apply-b': 'create' })
    expect(await apply()).toEqual({ code: 0, 'apply-a': 'create', 'apply-b': 'create' })
    expect(await apply()).toEqual({ code: 0, 'apply-a': 'keep', 'apply-b': 'keep' })

    // A pause is not a change, and survives one.
    await portico(['schedule', 'pause', 'apply-a', '--reason', 'holiday'])
    await write('apply-a', { overlap: 'allow-all' })
    await rm(join(files, 'apply-b.json'))
    expect(await apply()).toEqual({ code: 0, 'apply-a': 'change' })
    const changed = JSON.parse((await portico(['schedule', 'get', 'apply-a'])).stdout)
    expect(changed).toMatchObject({ overlap: 'allow-all', paused: true, note: 'holiday', set: { name: SET } })

    // Only those of the set are deleted.
    await portico(['schedule', 'put', 'apply-c', '-f', join(files, 'apply-a.json')])
    expect(await apply('--prune', '--dry-run')).toEqual({ code: 0, 'apply-a': 'keep', 'apply-b': 'delete' })
    expect(await apply('--prune')).toEqual({ code: 0, 'apply-a': 'keep', 'apply-b': 'delete' })
    expect((await portico(['schedule', 'get', 'apply-b'])).code).toBe(1)
    expect((await portico(['schedule', 'get', 'apply-c'])).code).toBe(0)

    // One that is wrong, or of another set, stops neither the others nor the command with another code.
    await write('apply-d', { overlap: 'never' })
    const other = await portico(['schedule', 'apply', files, '--set', `other-${SET}`, '--prune'])
    expect([other.code, JSON.parse(other.stdout).schedules]).toEqual([
      1,
      [
        { scheduleId: 'apply-a', action: 'change', error: `belongs to the set ${SET}` },
        { scheduleId: 'apply-d', action: 'create', error: expect.stringContaining('/overlap must be one of') },
      ],
    ])
    const notJson = join(files, 'apply-e.json')
    await writeFile(notJson, '{')
    expect((await portico(['schedule', 'apply', files, '--set', SET])).code).toBe(2)
    for (const id of ['apply-a', 'apply-c']) await portico(['schedule', 'rm', id])
  })
}
