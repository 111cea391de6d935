/**
 * Checks the output of every process in every suite:
 * it must not show values of its configuration or details of the machine.
 */
import { ENGINE_ERROR_TEXT, internalStringIn } from './internal-strings.ts'
import { record } from './record.ts'
import { leaksIn, VARIABLES } from './variables.ts'

type Environment = Readonly<Record<string, string | undefined>>

// Each response is searched for all of them, and hundreds of processes have the same ones.
const secretsOfProcesses = new Map<string, Environment>()

/** The secrets of any process so far that show in a response. */
export function secretsIn(answer: string): string[] {
  return [...secretsOfProcesses.values()].flatMap((env) => leaksIn(answer, env, 'answers', { secretsOnly: true }))
}

/** Checks each line of a process with this environment; null for a process that is not ours. */
export function checkLines(env: Environment): ((line: string) => void) | null {
  if (!env.SERVICE_CATALOG_ID) return null
  const secrets = secretsOf(env)
  secretsOfProcesses.set(JSON.stringify(secrets), secrets)
  record('watched', { variables: Object.keys(VARIABLES).filter((name) => env[name]) })
  return (line) => {
    // A worker tells whoever runs it where it works; the lines of the service are JSON.
    const isService = line.startsWith('{"time"')
    for (const variable of leaksIn(line, env, isService ? 'log' : 'printed', { secretsOnly: !isService }))
      record('leaks', { variable, line: line.slice(0, 500) })
    // A bug is logged with its stack, an error of the engine with its message.
    const foreign = line.includes('"status":500') || line.includes(ENGINE_ERROR_TEXT) ? null : internalStringIn(line)
    if (isService && foreign !== null)
      record('leaks', { variable: `what is foreign: ${foreign}`, line: line.slice(0, 500) })
  }
}

function secretsOf(env: Environment): Environment {
  const names = Object.keys(VARIABLES).filter((name) => VARIABLES[name]?.isSecret)
  return Object.fromEntries(names.map((name) => [name, env[name]]))
}
