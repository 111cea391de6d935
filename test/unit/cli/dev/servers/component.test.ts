import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type Component,
  type EnsureOptions,
  ensureComponent,
  type LocalSource,
  type RemoteSource,
} from '../../../../../src/cli/dev/servers/component.ts'

let cache: string
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'component-'))
})
afterEach(() => rm(cache, { recursive: true }))

test('ensureComponent: tries the sources in order and stops at the first that works', async () => {
  const tried: string[] = []
  const source = (name: string, path: string | null): LocalSource => ({
    name,
    find: async () => {
      tried.push(name)
      if (path === null) throw new Error('not here')
      return path
    },
  })

  const program = await ensure([source('a', null), source('b', '/b/tool'), source('c', '/c/tool')])

  expect(program).toBe('/b/tool')
  expect(tried).toEqual(['a', 'b'])
})

test('ensureComponent: skips a program that fails the check', async () => {
  const check = async (program: string) => {
    if (program === '/old/tool') throw new Error('too old')
  }

  const program = await ensure([found('/old/tool'), found('/new/tool')], { check })

  expect(program).toBe('/new/tool')
})

test('ensureComponent: uses the cached program the second time', async () => {
  const first = await ensure([fetched('one')])
  const second = await ensure([])

  expect(second).toBe(first)
  expect(await readFile(second, 'utf8')).toBe('one')
})

test('ensureComponent: another version or pin has another folder in the cache', async () => {
  await ensure([fetched('one')])

  const newer = await ensure([fetched('two')], { version: '2.0.0' })
  const repinned = await ensure([fetched('three')], { pins: ['other'] })

  expect(await readFile(newer, 'utf8')).toBe('two')
  expect(await readFile(repinned, 'utf8')).toBe('three')
})

test('ensureComponent: two concurrent downloads both return a complete program', async () => {
  const programs = await Promise.all([ensure([fetched('same')]), ensure([fetched('same')])])

  expect(new Set(programs).size).toBe(1)
  expect(await readFile(programs[0], 'utf8')).toBe('same')
  expect(await readdir(cache)).toHaveLength(1)
})

test('ensureComponent: a failed download leaves no files behind', async () => {
  const half: RemoteSource = {
    name: 'half',
    stallTimeoutMs: 1000,
    fetch: async (folder) => {
      await writeFile(join(folder, 'tool.part'), 'ha')
      throw new Error('connection lost')
    },
  }

  await expect(ensure([half])).rejects.toThrow('connection lost')

  expect(await readdir(cache)).toEqual([])
})

test('ensureComponent: a download that stalls is aborted and the next source is tried', async () => {
  const silent: RemoteSource = {
    name: 'silent',
    stallTimeoutMs: 100,
    fetch: (_folder, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }

  const program = await ensure([silent, found('/b/tool')])

  expect(program).toBe('/b/tool')
})

test('ensureComponent: no further source is tried after the signal has aborted', async () => {
  const controller = new AbortController()
  const aborting: LocalSource = {
    name: 'aborting',
    find: async () => {
      controller.abort(new Error('stopped'))
      throw new Error('not here')
    },
  }

  await expect(ensure([aborting, found('/b/tool')], {}, { signal: controller.signal })).rejects.toThrow('stopped')
})

test('ensureComponent: reports what is downloaded, and with which source', async () => {
  const lines: string[] = []

  await ensure([fetched('one')], {}, { progress: (line) => lines.push(line) })

  expect(lines).toEqual(['Some tool 1.0.0: downloading with fetched'])
})

test('ensureComponent: if every source fails, the error lists each with its error and says what to do', async () => {
  const broken = (name: string, message: string): LocalSource => ({
    name,
    find: () => Promise.reject(new Error(message)),
  })

  const rejected = ensure([broken('the PATH', 'no such program'), broken('the network', 'no route\nto host')])

  await expect(rejected).rejects.toThrow(
    [
      'Some tool 1.0.0 is not available. Tried in this order:',
      '  the cache    not found',
      '  the PATH     no such program',
      '  the network  no route',
      '               to host',
      'Install it.',
    ].join('\n'),
  )
})

/** Ensures a tool that has these sources. */
function ensure(
  sources: Component['sources'],
  changes: Partial<Component> = {},
  options: EnsureOptions = {},
): Promise<string> {
  const tool = { name: 'Some tool', version: '1.0.0', pins: [], program: join('bin', 'tool'), advice: 'Install it.' }
  const component = { ...tool, sources, check: async () => {}, ...changes }
  return ensureComponent(component, { cache, progress: () => {}, ...options })
}

function found(path: string): LocalSource {
  return { name: path, find: async () => path }
}

function fetched(content: string): RemoteSource {
  return {
    name: 'fetched',
    stallTimeoutMs: 1000,
    fetch: async (folder) => {
      await mkdir(join(folder, 'bin'))
      await writeFile(join(folder, 'bin', 'tool'), content)
    },
  }
}
