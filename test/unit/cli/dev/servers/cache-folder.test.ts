import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cacheFolder } from '../../../../../src/cli/dev/servers/cache-folder.ts'

test('cacheFolder: in a clone it is .cache', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: '/elsewhere' })).toMatch(/\/\.cache\/$/)
})

test('cacheFolder: of the package it is the folder of the user, never one below node_modules', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: '/elsewhere' }, false)).toBe('/elsewhere/portico')
  expect(cacheFolder({}, false)).toBe(join(homedir(), '.cache/portico'))
  expect(cacheFolder({ XDG_CACHE_HOME: 'relative' }, false)).toBe(join(homedir(), '.cache/portico'))
})
