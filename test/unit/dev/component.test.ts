import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Component, type FetchingWay, type FindingWay, have } from '../../../dev/servers/component.ts'

let cache: string
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'component-'))
})
afterEach(() => rm(cache, { recursive: true }))

test('have: attempts the sources in order and stops at the first that works', async () => {
  const asked: string[] = []
  const way = (name: string, path: string | null): FindingWay => ({
    name,
    find: async () => {
      asked.push(name)
      if (path === null) throw new Error('not here')
      return path
    },
  })

  const program = await have(tool([way('a', null), way('b', '/b/tool'), way('c', '/c/tool')]), quietly())

  expect(program).toBe('/b/tool')
  expect(asked).toEqual(['a', 'b'])
})

test('have: skips a program that is not the requested one', async () => {
  const check = async (program: string) => {
    if (program === '/old/tool') throw new Error('too old')
  }

  const program = await have({ ...tool([found('/old/tool'), found('/new/tool')]), check }, quietly())

  expect(program).toBe('/new/tool')
})

test('have: keeps a fetched program and reuses it the next time', async () => {
  const first = await have(tool([fetched('one')]), quietly())
  const second = await have(tool([]), quietly())

  expect(second).toBe(first)
  expect(await readFile(second, 'utf8')).toBe('one')
})

test('have: another version or pin is another place in the cache', async () => {
  await have(tool([fetched('one')]), quietly())

  const newer = await have({ ...tool([fetched('two')]), version: '2.0.0' }, quietly())
  const repinned = await have({ ...tool([fetched('three')]), pins: ['other'] }, quietly())

  expect(await readFile(newer, 'utf8')).toBe('two')
  expect(await readFile(repinned, 'utf8')).toBe('three')
})

test('have: two that fetch at the same time both get a whole program', async () => {
  const programs = await Promise.all([
    have(tool([fetched('same')]), quietly()),
    have(tool([fetched('same')]), quietly()),
  ])

  expect(new Set(programs).size).toBe(1)
  expect(await readFile(programs[0], 'utf8')).toBe('same')
  expect(await readdir(cache)).toHaveLength(1)
})

test('have: leaves nothing behind of a fetch that failed', async () => {
  const half: FetchingWay = {
    name: 'half',
    quietMs: 1000,
    fetch: async (folder) => {
      await writeFile(join(folder, 'tool.part'), 'ha')
      throw new Error('cut off')
    },
  }

  await expect(have(tool([half]), quietly())).rejects.toThrow('cut off')

  expect(await readdir(cache)).toEqual([])
})

test('have: gives up a way from which nothing comes', async () => {
  const silent: FetchingWay = {
    name: 'silent',
    quietMs: 100,
    fetch: (_folder, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }

  const program = await have(tool([silent, found('/b/tool')]), quietly())

  expect(program).toBe('/b/tool')
})

test('have: attempts no further source once its signal aborts', async () => {
  const controller = new AbortController()
  const aborting: FindingWay = {
    name: 'aborting',
    find: async () => {
      controller.abort(new Error('stopped'))
      throw new Error('not here')
    },
  }

  await expect(have(tool([aborting, found('/b/tool')]), { ...quietly(), signal: controller.signal })).rejects.toThrow(
    'stopped',
  )
})

test('have: reports the fetched program and its source', async () => {
  const lines: string[] = []

  await have(tool([fetched('one')]), { cache, progress: (line) => lines.push(line) })

  expect(lines).toEqual(['Some tool 1.0.0: asking fetched'])
})

test('have: when nothing works, names every source, its error, and a solution', async () => {
  const broken = (name: string, answer: string): FindingWay => ({
    name,
    find: async () => {
      throw new Error(answer)
    },
  })

  const refused = have(
    tool([broken('the PATH', 'no such program'), broken('the network', 'no route\nto host')]),
    quietly(),
  )

  await expect(refused).rejects.toThrow(
    [
      'Some tool 1.0.0 could not be had. Tried, in this order:',
      '  the cache    not there',
      '  the PATH     no such program',
      '  the network  no route',
      '               to host',
      'Ask somebody.',
    ].join('\n'),
  )
})

function tool(ways: Component['ways']): Component {
  return {
    name: 'Some tool',
    version: '1.0.0',
    pins: [],
    program: join('bin', 'tool'),
    ways,
    check: async () => {},
    advice: 'Ask somebody.',
  }
}

function found(path: string): FindingWay {
  return { name: path, find: async () => path }
}

function fetched(content: string): FetchingWay {
  return {
    name: 'fetched',
    quietMs: 1000,
    fetch: async (folder) => {
      await mkdir(join(folder, 'bin'))
      await writeFile(join(folder, 'bin', 'tool'), content)
    },
  }
}

function quietly() {
  return { cache, progress: () => {} }
}
