/** Values that try to become more than a value of a visibility query. */
import fc from 'fast-check'

const ENDS = ["'", "\\'", "''", "\\\\'", '"', '\\"', '`', "')", "\\')", '")', "'))", '\\', '\\\\']
const SEQUELS = [
  '',
  " OR WorkflowType != ''",
  " OR WorkflowId STARTS_WITH '",
  ' OR 1=1 --',
  ' OR ExecutionStatus = "Running" #',
  ' OR ExecutionStatus = "Running" /*',
  " UNION SELECT '",
  ' GROUP BY ExecutionStatus',
  ' ORDER BY StartTime LIMIT 1; DROP TABLE executions_visibility; --',
  ') OR (WorkflowType IS NOT NULL',
  " AND '1'='1",
]
const WORDS = [
  '%',
  '%%',
  '_',
  '*',
  '$',
  '$catalog',
  '%27',
  '%5C%27',
  '$WorkflowType',
  '{{7*7}}',
  'null',
  'true',
  '0x27',
  '＇',
  'ʼ',
  '\u2019',
  '🐘',
]

/** At least 200 of them, always the same. */
export const HOSTILE_VALUES: readonly string[] = [
  ...WORDS,
  ...ENDS.flatMap((end) => SEQUELS.map((sequel) => `x${end}${sequel}`)),
  ...fc.sample(
    fc.string({
      unit: fc.constantFrom("'", '"', '\\', '`', '(', ')', '-', '/', '*', '#', ';', ' ', 'x'),
      minLength: 1,
      maxLength: 12,
    }),
    {
      seed: 7,
      numRuns: 60,
    },
  ),
]
