import { startProcess } from '../../dev/servers/process.ts'
import { SERVICE_ENTRY } from '../../dev/servers/service.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Answer, makeApi } from '../support/api.ts'
import { VARIABLES } from '../support/variables.ts'

/** What is recognized of each variable wherever it shows. */
export const MARKS = Object.fromEntries(Object.entries(VARIABLES).map(([name, { mark }]) => [name, mark ?? '']))
export const TOKEN = 'marked-token'

export interface ServiceWithSecrets extends Pick<RunningProcess, 'ended' | 'kill'> {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  lines: string[]
  answers: Answer[]
  env: Record<string, string | undefined>
}

/** A service with every variable marked; resolves when it listens or has ended. */
export async function startServiceWithSecrets(env: Record<string, string>): Promise<ServiceWithSecrets> {
  const lines: string[] = []
  const answers: Answer[] = []
  const words = {
    ENGINE_TLS: 'true',
    ENGINE_TRANSPORT: 'grpc',
    SERVICE_ALLOW_ANONYMOUS: 'false',
    SERVICE_LOG_LEVEL: 'debug',
  }
  const flags = { SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_TRACE_LOCAL_ON: 'true' }
  const variables = { ...MARKS, ...words, ...flags, SERVICE_PORT: '0', SERVICE_HOST: '127.0.0.1', ...env }
  const child = await startProcess({
    command: process.execPath,
    args: [SERVICE_ENTRY],
    env: { PATH: process.env.PATH, ...variables },
    onLine: (line) => void lines.push(line),
  })
  let over = false
  void child.ended.then(() => {
    over = true
  })
  const url = () => String(/"url":"([^"]+)"/.exec(lines.join('\n'))?.[1])
  await until('it listens or ends', () => over || url() !== 'undefined')
  return {
    ended: child.ended,
    kill: child.kill,
    lines,
    answers,
    env: variables,
    async call(method, path, body, headers) {
      const answer = await makeApi({ url: url(), token: TOKEN, engine: 'disturbed' }).call(method, path, body, headers)
      answers.push(answer)
      return answer
    },
  }
}
