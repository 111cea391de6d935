/** Looks at what every process of ours prints, in whatever suite: no value of its configuration may show. */
import { record } from './record.ts'
import { leaksIn, VARIABLES } from './variables.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Takes each line of a process that was told this; null for a process that is none of ours. */
export function watchLines(env: Environment): ((line: string) => void) | null {
  if (!env.SERVICE_CATALOG_ID) return null
  record('watched', { variables: Object.keys(VARIABLES).filter((name) => env[name]) })
  return (line) => {
    // A worker tells whoever runs it where it works; the lines of the service are JSON.
    const isService = line.startsWith('{"time"')
    for (const variable of leaksIn(line, env, isService ? 'log' : 'printed', { secretsOnly: !isService }))
      record('leaks', { variable, line: line.slice(0, 500) })
  }
}
