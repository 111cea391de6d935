import { expect, test } from 'vitest'
import { jsonLog, type LogLevel, withoutStack } from '../../src/log.ts'

function makeLog(level: LogLevel = 'info') {
  const lines: string[] = []
  const redact = (text: string) => text.replaceAll('db.internal', '<address>')
  return { lines, log: jsonLog({ minLevel: level, write: (line) => void lines.push(line), redact }) }
}

test('jsonLog: each event is one line of JSON (threat 52)', () => {
  const { lines, log } = makeLog()

  log('info', 'request', { route: '/health\n', status: 200 })

  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain('\n')
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    time: expect.stringMatching(/^\d{4}-.+Z$/),
    level: 'info',
    message: 'request',
    route: '/health\n',
    status: 200,
  })
})

test('jsonLog: events below the minimum level are dropped', () => {
  const { lines, log } = makeLog('warn')

  log('debug', 'a')
  log('info', 'b')
  log('warn', 'c')
  log('error', 'd')

  expect(lines.map((line) => JSON.parse(line).message)).toEqual(['c', 'd'])
})

test('jsonLog: an error is logged with its causes, without properties that a library added', () => {
  const { lines, log } = makeLog()
  const cause = Object.assign(new TypeError('below'), { request: { token: 's3cret' } })

  log('error', 'request', { cause: new Error('above', { cause }) })

  expect(JSON.parse(lines[0] ?? '').cause).toMatchObject({
    name: 'Error',
    message: 'above',
    cause: { name: 'TypeError', message: 'below' },
  })
  expect(lines[0]).not.toContain('s3cret')
})

test('jsonLog: messages of errors are redacted at any depth of causes (threat 28)', () => {
  const { lines, log } = makeLog()

  log('error', 'request', { cause: new Error('above', { cause: new Error('connect to db.internal') }) })

  expect(JSON.parse(lines[0] ?? '').cause.cause.message).toBe('connect to <address>')
  expect(lines[0]).not.toContain('db.internal')
})

test('withoutStack: the copy keeps name, message and causes', () => {
  const { lines, log } = makeLog()

  log('error', 'request', { cause: withoutStack(new TypeError('above', { cause: new RangeError('below') })) })

  expect(JSON.parse(lines[0] ?? '').cause).toEqual({
    name: 'TypeError',
    message: 'above',
    cause: { name: 'RangeError', message: 'below' },
  })
})

test('jsonLog: fields that JSON cannot represent are logged as strings', () => {
  const { lines, log } = makeLog()
  const circle: Record<string, unknown> = {}
  circle.self = circle

  log('info', 'a', { circle })
  log('info', 'b', { big: 1n })

  expect(lines.map((line) => JSON.parse(line).message)).toEqual(['a', 'b'])
})

test('log: the audit log is written at any level (threat 27)', () => {
  const { lines, log } = makeLog('error')

  log('info', 'audit', { caller: 'token:ci' })
  log('warn', 'something else')

  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'info', message: 'audit', caller: 'token:ci' }])
})
