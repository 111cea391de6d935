import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeOnce } from '../../../dev/servers/make-once.ts'
import { runCommand } from '../../../src/cli/dev/servers/component.ts'

test('makeOnce: of several callers in several processes one makes it, and all get its path', async () => {
  const { folder, path } = await aPath()
  const module = new URL('../../../dev/servers/make-once.ts', import.meta.url)
  const script = `
    import { appendFileSync } from 'node:fs'
    import { writeFile } from 'node:fs/promises'
    import { makeOnce } from ${JSON.stringify(module.href)}
    const make = async (unfinished) => {
      appendFileSync(${JSON.stringify(join(folder, 'made'))}, '.')
      await writeFile(unfinished, 'whole')
    }
    const path = ${JSON.stringify(path)}
    console.log(await Promise.all([makeOnce(path, make), makeOnce(path, make)]))`
  const run = () => runCommand({ command: process.execPath, args: ['--input-type=module', '--eval', script] })

  await Promise.all([run(), run(), run()])

  expect(await readFile(path, 'utf8')).toBe('whole')
  expect(await readFile(join(folder, 'made'), 'utf8')).toBe('.')
  expect((await readdir(folder)).toSorted()).toEqual(['made', 'path'])
})

test('makeOnce: what failed is made by the next caller, and nothing unfinished is left', async () => {
  const { folder, path } = await aPath()
  const failing = makeOnce(path, async (unfinished) => {
    await writeFile(unfinished, 'half')
    throw new Error('no space')
  })
  await expect(failing).rejects.toThrow('no space')
  expect(await readdir(folder)).toEqual([])

  await makeOnce(path, (unfinished) => writeFile(unfinished, 'whole'))

  expect(await readFile(path, 'utf8')).toBe('whole')
})

test('makeOnce: the lock of a process that was killed does not count', async () => {
  const { path } = await aPath()
  const pid = await runCommand({ command: process.execPath, args: ['--print', 'process.pid'] })
  await writeFile(`${path}.lock`, pid.trim())

  await makeOnce(path, (unfinished) => writeFile(unfinished, 'whole'))

  expect(existsSync(`${path}.lock`)).toBe(false)
})

async function aPath(): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-once-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return { folder, path: join(folder, 'path') }
}
