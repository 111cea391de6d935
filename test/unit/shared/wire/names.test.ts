import { expect, test } from 'vitest'
import {
  activityIdIssue,
  catalogIssue,
  characterIssue,
  handlerNameIssue,
  runIdIssue,
  updateIdIssue,
  workflowIdIssue,
  workflowNameIssue,
} from '../../../../src/shared/wire/names.ts'

const LONG = 'x'.repeat(1000)

test.for<[issueOf: (name: string) => string | null, accepted: string[]]>([
  [workflowIdIssue, ['a', 'orders/17 ü?#%', '...', 'catalogs', 'Runs', '_', '__x', '/_sys/x', 'line\nbreak', LONG]],
  [workflowIdIssue, ['é'.repeat(500), '€'.repeat(333), '😀'.repeat(250)]],
  [workflowNameIssue, ['greet', 'catalog', '.', '__x', 'toString', '__proto__', LONG]],
  [handlerNameIssue, ['approve', '_approve', 'catalog', LONG]],
  // 1000 with the prefix of the workflow id.
  [catalogIssue, ['orders', '_sys/x', '__x', 'x'.repeat(991)]],
  [updateIdIssue, ['$x', LONG]],
  [activityIdIssue, ['$x', LONG]],
  [runIdIssue, ['0198c1d0-0000-7000-8000-000000000000']],
  [characterIssue, ['', '😀']],
])('%o: accepts names', ([issueOf, accepted]) => {
  expect(accepted.map(issueOf)).toEqual(accepted.map(() => null))
})

const lengthIssue = (bytes: number, max = 1000) => `must be 1 to ${max} bytes of UTF-8, not ${bytes}`
const reserved = (prefix: string) => `must not start with "${prefix}", which is reserved`
const SURROGATE = 'must be well-formed Unicode (it contains a lone surrogate)'
const NUL = 'must not contain NUL characters'

test.for<[issueOf: (name: string) => string | null, name: string, issue: string]>([
  [workflowIdIssue, '', lengthIssue(0)],
  [workflowIdIssue, `${LONG}x`, lengthIssue(1001)],
  [workflowIdIssue, `${'é'.repeat(500)}x`, lengthIssue(1001)],
  [workflowIdIssue, '€'.repeat(334), lengthIssue(1002)],
  [workflowIdIssue, '😀'.repeat(251), lengthIssue(1004)],
  ...['.', '..', 'catalog', 'runs', 'signal-with-start', 'update-with-start'].map(
    (id): [typeof workflowIdIssue, string, string] => [workflowIdIssue, id, `"${id}" is reserved`],
  ),
  [workflowIdIssue, '$catalog:orders', reserved('$')],
  [workflowIdIssue, '__temporal_x', reserved('__temporal_')],
  [workflowIdIssue, 'temporal-sys-scheduler:nightly', reserved('temporal-sys-')],
  [workflowIdIssue, 'a\ud800', SURROGATE],
  [workflowIdIssue, '\udc00a', SURROGATE],
  [workflowIdIssue, 'a\0b', NUL],
  [workflowNameIssue, '', lengthIssue(0)],
  [workflowNameIssue, `${LONG}x`, lengthIssue(1001)],
  [workflowNameIssue, '$catalog', reserved('$')],
  [workflowNameIssue, '__temporal_x', reserved('__temporal_')],
  [workflowNameIssue, 'temporal-sys-batch-workflow', reserved('temporal-sys-')],
  [workflowNameIssue, '\ud800', SURROGATE],
  [workflowNameIssue, '\0', NUL],
  [handlerNameIssue, '__stack_trace', reserved('__')],
  [handlerNameIssue, '__', reserved('__')],
  [handlerNameIssue, '', lengthIssue(0)],
  [handlerNameIssue, `${LONG}x`, lengthIssue(1001)],
  [handlerNameIssue, '$x', reserved('$')],
  [handlerNameIssue, '\ud800', SURROGATE],
  [handlerNameIssue, '\0', NUL],
  [updateIdIssue, `${LONG}x`, lengthIssue(1001)],
  [activityIdIssue, `${LONG}x`, lengthIssue(1001)],
  [runIdIssue, 'r1', 'must be a UUID'],
  [catalogIssue, 'x'.repeat(992), lengthIssue(992, 991)],
  [catalogIssue, '/_sys/x', reserved('/_sys/')],
  [catalogIssue, '__temporal_x', reserved('__temporal_')],
  [catalogIssue, '', lengthIssue(0, 991)],
  [catalogIssue, '\ud800', SURROGATE],
  [catalogIssue, '\0', NUL],
])('%o: rejects what is reserved or not valid (threat 40): %j', ([issueOf, name, issue]) => {
  expect(issueOf(name)).toBe(issue)
})
