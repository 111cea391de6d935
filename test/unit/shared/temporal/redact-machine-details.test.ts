import { expect, test } from 'vitest'
import { redactMachineDetails } from '../../../../src/shared/temporal/redact-machine-details.ts'

const STACKS = [
  'x is not a function\n    at run (/srv/app/workflows.js:1:2)\n    at next',
  'name \'x\' is not defined\nTraceback (most recent call last):\n  File "/srv/app/w.py", line 3, in run',
  'name error\n  File "/srv/app/w.py", line 3, in run',
  'index out of range\n\ngoroutine 12 [running]:\nmain.run(0x1)',
  'null\n\tat com.example.Flow.run(Flow.java:12)',
]

test('redactMachineDetails: removes stacks of all languages (threat 82)', () => {
  const found = STACKS.map(redactMachineDetails)
  expect(found).toEqual(['x is not a function', "name 'x' is not defined", 'name error', 'index out of range', 'null'])
})

test('redactMachineDetails: replaces absolute paths, and quoted ones as a whole (threat 82)', () => {
  expect(redactMachineDetails("Cannot find module '/home/ada l/app/x.js', required by /srv/app/y.js:3")).toBe(
    "Cannot find module '<path>', required by <path>:3",
  )
  expect(redactMachineDetails('see file:///srv/app/z.js and C:\\Users\\ada\\app.js (~ is /root/.ssh)')).toBe(
    'see <path> and <path> (~ is <path>)',
  )
})

test('redactMachineDetails: replaces identities and addresses (threat 82)', () => {
  expect(redactMachineDetails('worker 4711@build-host.internal: connect ECONNREFUSED 10.0.0.3:5432')).toBe(
    'worker <worker>: connect ECONNREFUSED <address>',
  )
})

test('redactMachineDetails: keeps text that only looks similar', () => {
  const message = 'GET https://example.com/orders/17 gave 404; /orders is 3/4 full at 12:30, ./src/a.ts too'

  expect(redactMachineDetails(message)).toBe(message)
})

test('redactMachineDetails: truncates a huge message', () => {
  const huge = ['\n ', "'/", '/a', '1@', '😀'].map((text) => redactMachineDetails(text.repeat(1_000_000)))

  expect(Math.max(...huge.map(({ length }) => length))).toBe(2000)
  expect(huge.every((message) => message.isWellFormed())).toBe(true)
})
