/** Looks at what every process of ours prints, in whatever suite: no value of its configuration may show, and nothing foreign. */
import { ENGINE_ERROR_TEXT, internalStringIn } from './internal-strings.ts'
import { record } from './record.ts'
import { leaksIn, VARIABLES } from './variables.ts'

type Environment = Readonly<Record<string, string | undefined>>

const watched: Environment[] = []

/** The secrets that any process of this test file was told and that show in an answer. */
export function secretsIn(answer: string): string[] {
  return watched.flatMap((env) => leaksIn(answer, env, 'answers', { secretsOnly: true }))
}

/** Takes each line of a process that was told this; null for a process that is none of ours. */
export function checkLines(env: Environment): ((line: string) => void) | null {
  if (!env.SERVICE_CATALOG_ID) return null
  watched.push(env)
  record('watched', { variables: Object.keys(VARIABLES).filter((name) => env[name]) })
  return (line) => {
    // A worker tells whoever runs it where it works; the lines of the service are JSON.
    const isService = line.startsWith('{"time"')
    for (const variable of leaksIn(line, env, isService ? 'log' : 'printed', { secretsOnly: !isService }))
      record('leaks', { variable, line: line.slice(0, 500) })
    // A bug is told with its stack, what the engine says in its own words.
    const foreign = line.includes('"status":500') || line.includes(ENGINE_ERROR_TEXT) ? null : internalStringIn(line)
    if (isService && foreign !== null)
      record('leaks', { variable: `what is foreign: ${foreign}`, line: line.slice(0, 500) })
  }
}
