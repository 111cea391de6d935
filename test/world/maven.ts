/** Libraries of Maven that tests install into `.cache/`. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { copyFile, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Component, ensureComponent, runCommand } from '../../src/cli/dev/servers/component.ts'

// Pinned here, because Maven would use the version that it was released with.
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

/**
 * Installs what the pom.xml of the folder names; each file must be in its sha256sums. Returns a folder that has the
 * files in `lib`.
 */
export async function ensureMavenLibraries(name: string, source: string): Promise<string> {
  return dirname(await ensureComponent(mavenLibraries(name, source)))
}

function mavenLibraries(name: string, source: string): Component {
  const checksums = readFileSync(join(source, 'sha256sums'), 'utf8')
  return {
    name,
    version: '1',
    pins: [readFileSync(join(source, 'pom.xml'), 'utf8'), checksums],
    program: 'pom.xml',
    sources: [
      {
        name: 'Maven',
        stallTimeoutMs: 60_000,
        fetch: async (folder, signal) => {
          await runCommand({ command: 'javac', args: ['-version'] }, signal)
          await copyFile(join(source, 'pom.xml'), join(folder, 'pom.xml'))
          const repository = join(folder, 'repository')
          const args = ['-q', '-B', `-Dmaven.repo.local=${repository}`, COPY_DEPENDENCIES, '-DoutputDirectory=lib']
          await runCommand({ command: 'mvn', args, cwd: folder }, signal)
          await rm(repository, { recursive: true })
        },
      },
    ],
    check: async (program) => {
      const folder = join(dirname(program), 'lib')
      const lines = (await readdir(folder)).map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}`)
      const unknown = lines.filter((line) => !checksums.split('\n').includes(line))
      if (unknown.length > 0) throw new Error(`not in sha256sums:\n${unknown.join('\n')}`)
    },
    advice: 'Put Maven 3 and a JDK (17 or newer) on the PATH.',
  }
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
