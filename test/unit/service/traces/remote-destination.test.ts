import { expect, test } from 'vitest'
import { objectsOf } from '../../../../src/service/traces/from-objects.ts'

const AWS = { region: 'eu-central-1', bucket: null, endpoint: null }
const ONE_BUCKET = { ...AWS, bucket: 'traces' }
const OWN = { region: 'eu-central-1', bucket: 'traces', endpoint: 'http://127.0.0.1:9000/s3/' }

const AWS_HOST = 's3.eu-central-1.amazonaws.com'

function rejectionOf(destination: string, rules = AWS as Parameters<typeof objectsOf>[1]): string {
  try {
    return JSON.stringify(objectsOf(destination, rules))
  } catch (error) {
    return (error as Error).message
  }
}

test('objectsOf: accepts any bucket on AWS’s hosts of the region, and takes the path as the key', () => {
  expect(objectsOf(`https://any-bucket.${AWS_HOST}/traces/run.json`, AWS)).toEqual([
    { bucket: 'any-bucket', key: 'traces/run.json' },
  ])
  expect(objectsOf(`https://dotted.bucket.${AWS_HOST}/a`, AWS)).toEqual([{ bucket: 'dotted.bucket', key: 'a' }])
  expect(objectsOf('https://b12.s3.cn-north-1.amazonaws.com.cn/a', { ...AWS, region: 'cn-north-1' })).toEqual([
    { bucket: 'b12', key: 'a' },
  ])
})

test('objectsOf: a percent-encoded key is also tried decoded', () => {
  expect(objectsOf(`https://any-bucket.${AWS_HOST}/orders%2F17%20%C3%BC+/run.json`, AWS)).toEqual([
    { bucket: 'any-bucket', key: 'orders%2F17%20%C3%BC+/run.json' },
    { bucket: 'any-bucket', key: 'orders/17 ü+/run.json' },
  ])
  expect(objectsOf(`https://any-bucket.${AWS_HOST}/50%`, AWS)).toEqual([{ bucket: 'any-bucket', key: '50%' }])
})

test('objectsOf: with SERVICE_STORAGE_BUCKET, rejects other buckets (threat 85)', () => {
  expect(objectsOf(`https://traces.${AWS_HOST}/a`, ONE_BUCKET)).toHaveLength(1)
  expect(rejectionOf(`https://other.${AWS_HOST}/a`, ONE_BUCKET)).toContain('the bucket is not SERVICE_STORAGE_BUCKET')
})

test('objectsOf: with SERVICE_STORAGE_ENDPOINT, rejects every other URL (threat 85)', () => {
  expect(objectsOf('http://127.0.0.1:9000/s3/traces/a', OWN)).toEqual([{ bucket: 'traces', key: 'a' }])
  for (const elsewhere of [
    'http://127.0.0.1:9000/s3x/traces/a',
    'http://127.0.0.1:90001/s3/traces/a',
    'https://127.0.0.1:9000/s3/traces/a',
    'http://user:secret@127.0.0.1:9000/s3/traces/a',
    `https://traces.${AWS_HOST}/a`,
  ])
    expect(rejectionOf(elsewhere, OWN)).toContain('it is not on SERVICE_STORAGE_ENDPOINT')
  expect(rejectionOf('http://127.0.0.1:9000/s3/other/a', OWN)).toContain('the bucket is not SERVICE_STORAGE_BUCKET')
})

test('objectsOf: rejects other schemes, hosts, ports and credentials in the URL (threat 85)', () => {
  for (const scheme of ['http', 'ftp', 'file', 's3', 'javascript'])
    expect(rejectionOf(`${scheme}://any-bucket.${AWS_HOST}/a`)).toContain('it does not start with https://')
  for (const host of [
    'evil.example',
    `any-bucket.${AWS_HOST}.evil.example`,
    `evil.example#.${AWS_HOST.replace('eu', 'us')}`,
    'any-bucket.s3.us-east-1.amazonaws.com',
    `any-bucket.${AWS_HOST}:8443`,
    `any-bucket.${AWS_HOST}@evil.example`,
    `any-bucket.${AWS_HOST}\\@evil.example`,
    '169.254.169.254',
    '[::1]',
    'localhost',
    `any-bucket.${AWS_HOST.toUpperCase()}`,
  ])
    expect(rejectionOf(`https://${host}/a`)).toContain('its host is not S3 in SERVICE_STORAGE_REGION')
})

test('objectsOf: only a bucket name may precede AWS’s host (threat 85)', () => {
  for (const bucket of [
    'user:secret@any',
    'evil.example#',
    'evil.example?',
    'evil.example%2f',
    'A',
    '..',
    'a..b',
    '-ab',
    '',
  ])
    expect(rejectionOf(`https://${bucket}.${AWS_HOST}/a`)).toMatch(/the bucket name is invalid/)
})

test('objectsOf: a key never leaves its bucket and has no characters with a meaning in URLs (threat 85)', () => {
  for (const key of ['../other/a', 'a/../../b', './a', 'a/..', '%2e%2e/other/a', '.%2E/a', 'a/%2E'])
    expect(rejectionOf(`https://any-bucket.${AWS_HOST}/${key}`)).toContain('must not contain the segments "." and ".."')
  for (const key of ['a?X-Amz-Signature=1', 'a#b', 'a\\..\\b', 'a\nb', 'a\0b'])
    expect(rejectionOf(`https://any-bucket.${AWS_HOST}/${key}`)).toContain('the key contains invalid characters')
  expect(rejectionOf(`https://any-bucket.${AWS_HOST}/`)).toContain('must have 1 to 1024 bytes')
  expect(rejectionOf(`https://any-bucket.${AWS_HOST}/${'k'.repeat(1025)}`)).toContain('must have 1 to 1024 bytes')
  expect(rejectionOf(`https://any-bucket.${AWS_HOST}/${'k'.repeat(5000)}`)).toContain('longer than 4096 characters')
})

test('objectsOf: a key that would leave the bucket once decoded is not tried decoded (threat 85)', () => {
  expect(objectsOf(`https://any-bucket.${AWS_HOST}/..%2Fother.json`, AWS)).toEqual([
    { bucket: 'any-bucket', key: '..%2Fother.json' },
  ])
})

test('objectsOf: an error message does not repeat the destination (threat 85)', () => {
  for (const destination of ['https://secret.example/a', `https://secret@${AWS_HOST}/a`, 'secret'])
    expect(rejectionOf(destination)).not.toContain('secret')
})

test('objectsOf: accepts a host without a region only for SERVICE_STORAGE_BUCKET on AWS', () => {
  const destination = 'https://traces.s3.amazonaws.com/order/2026/11/22/a_orders-17.json'

  expect(objectsOf(destination, ONE_BUCKET)).toEqual([{ bucket: 'traces', key: 'order/2026/11/22/a_orders-17.json' }])
  expect(rejectionOf(destination, AWS)).toContain('its host is not S3 in SERVICE_STORAGE_REGION')
  expect(rejectionOf(destination.replace('traces', 'other'), ONE_BUCKET)).toContain(
    'its host is not S3 in SERVICE_STORAGE_REGION',
  )
  expect(rejectionOf(destination.replace('https', 'http'), ONE_BUCKET)).toContain('it does not start with https://')
  expect(rejectionOf(destination, OWN)).toContain('it is not on SERVICE_STORAGE_ENDPOINT')
})
