/** Clients that openapi-generator writes, with its default options, from the document of a running service. */
import { access, readdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { readiness } from '../support/readiness.ts'
import { ensureMavenLibraries } from './maven.ts'
import { printed } from './programs.ts'

const SOURCE = fileURLToPath(new URL('./openapi-generator/', import.meta.url))

const test = sharedTest
  .extend('libraries', { scope: 'file' }, async () =>
    join(await ensureMavenLibraries('openapi-generator', SOURCE), 'lib'),
  )
  /** Writes the client into a folder, which it returns. */
  .extend('generate', { scope: 'file' }, async ({ service, folder, libraries }) => {
    const document = join(folder, 'openapi.json')
    await writeFile(document, (await service.call('GET', '/openapi.json')).text)
    const generator = join(libraries, 'openapi-generator-cli-7.16.0.jar')
    return async (language: string) => {
      const output = join(folder, language)
      const args = ['-jar', generator, 'generate', '-g', language, '-i', document, '-o', output]
      await runCommand({ command: 'java', args: ['-XX:TieredStopAtLevel=1', ...args] })
      return output
    }
  })

test.for([
  ['kotlin', 'src/main/kotlin/org/openapitools/client/apis/StartApi.kt'],
  ['csharp', 'src/Org.OpenAPITools/Api/StartApi.cs'],
  ['rust', 'src/apis/start_api.rs'],
  ['php', 'lib/Api/StartApi.php'],
  ['ruby', 'lib/openapi_client/api/start_api.rb'],
] as const)('openapi-generator: a client for %s is generated', async ([language, file], { generate }) => {
  const client = await generate(language)

  await expect(access(join(client, file))).resolves.toBeUndefined()
})

test('openapi-generator: its client for Java compiles with the default options, starts, signals and lists', async ({
  generate,
  libraries,
  service,
  serviceProcess,
}) => {
  await readiness(serviceProcess)
  const { workflowId } = (await service.start('nothing')).body
  await until('the run is listed', async () =>
    (await service.get('runs?workflowName=nothing')).text.includes(workflowId),
  )
  const client = await generate('java')
  const names = await readdir(join(client, 'src/main/java'), { recursive: true })
  const sources = names.filter((name) => name.endsWith('.java')).map((name) => join(client, 'src/main/java', name))
  const jars = (await readdir(libraries)).filter((name) => !name.startsWith('openapi-generator-cli'))
  const classPath = [client, ...jars.map((name) => join(libraries, name))].join(delimiter)

  const program = join(SOURCE, 'Program.java')
  await runCommand({ command: 'javac', args: ['-nowarn', '-d', client, '-cp', classPath, ...sources, program] })
  const received = await printed({ command: 'java', args: ['-cp', classPath, 'Program', serviceProcess.url] })

  expect(received).toEqual({
    status: 'running',
    accepted: true,
    listed: expect.arrayContaining([workflowId]),
  })
})
