import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Component } from '../../src/cli/dev/servers/component.ts'
import { npmPackage } from '../../src/cli/dev/servers/sources.ts'

interface NpmProgram {
  /** Of the package. */
  name: string
  version: string
  /** The checksum of the package, as in a package-lock.json. */
  integrity: string
  /** Path of the program below `node_modules`. */
  path: string
  /** Further flags of `npm install`. */
  flags?: string[]
}

/** A program in an npm package that is not a dependency. */
export function npmProgram({ name, version, integrity, path, flags }: NpmProgram): Component {
  const program = join('node_modules', path)
  return {
    name,
    version,
    pins: [integrity],
    program,
    sources: [npmPackage(name, version, flags)],
    check: async (installedProgram) => {
      const lock = join(installedProgram.slice(0, -program.length), 'node_modules', '.package-lock.json')
      const { packages } = JSON.parse(await readFile(lock, 'utf8'))
      if (packages[`node_modules/${name}`].integrity !== integrity) {
        throw new Error(`its checksum is not ${integrity}`)
      }
    },
    advice: 'Check that npm can download packages.',
  }
}
