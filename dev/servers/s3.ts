/** Two S3 servers as child processes. Both verify signatures. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { freePorts } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { ensureRclone, ensureWeed } from './components.ts'
import { startProcess } from './process.ts'

export interface RunningS3 {
  endpoint: string
  /** A bucket that exists. */
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** For tests that read and write objects directly. */
  client: AwsClient
  stop(): Promise<void>
}

const ACCOUNT = { accessKeyId: 'portico-key-id', secretAccessKey: 'portico-secret-key', region: 'eu-central-1' }
const BUCKET = 'portico-traces'

/** The variables with which the service and its workers use this bucket. */
export function storageEnv(s3: Omit<RunningS3, 'client' | 'stop'>): Record<string, string> {
  return {
    SERVICE_STORAGE_BUCKET: s3.bucket,
    SERVICE_STORAGE_ENDPOINT: s3.endpoint,
    SERVICE_STORAGE_REGION: s3.region,
    SERVICE_STORAGE_ACCESS_KEY_ID: s3.accessKeyId,
    SERVICE_STORAGE_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
}

/** SeaweedFS, which most tests of traces use. */
export async function startWeed(): Promise<RunningS3> {
  const [command, dir, ports] = await Promise.all([ensureWeed(), mkdtemp(join(tmpdir(), 'weed-')), freePorts(11)])
  const [s3, s3Grpc, master, masterGrpc, volume, volumeGrpc, filer, filerGrpc, ...rest] = ports
  // All ports are set, because a second server on this machine could not use the defaults.
  const args = [
    ...[
      'mini',
      `-dir=${dir}`,
      '-ip=127.0.0.1',
      '-ip.bind=127.0.0.1',
      '-webdav=false',
      '-admin.ui=false',
      '-master.telemetry=false',
    ],
    ...[
      `-s3.port=${s3}`,
      `-s3.port.grpc=${s3Grpc}`,
      '-s3.port.iceberg=0',
      '-s3.port.lance=0',
      '-s3.domainName=s3.test',
    ],
    ...[
      `-master.port=${master}`,
      `-master.port.grpc=${masterGrpc}`,
      `-volume.port=${volume}`,
      `-volume.port.grpc=${volumeGrpc}`,
    ],
    ...[
      `-filer.port=${filer}`,
      `-filer.port.grpc=${filerGrpc}`,
      `-admin.port=${rest[0]}`,
      `-admin.port.grpc=${rest[1]}`,
    ],
    `-debug.port=${rest[2]}`,
  ]
  const env = { ...process.env, AWS_ACCESS_KEY_ID: ACCOUNT.accessKeyId, AWS_SECRET_ACCESS_KEY: ACCOUNT.secretAccessKey }
  return start({ command, args, env, dir, endpoint: `http://127.0.0.1:${s3}` })
}

/** rclone, a second implementation of S3. */
export async function startRclone(): Promise<RunningS3> {
  const [command, dir, [port]] = await Promise.all([ensureRclone(), mkdtemp(join(tmpdir(), 'rclone-')), freePorts(1)])
  await mkdir(join(dir, BUCKET))
  const args = [
    'serve',
    's3',
    dir,
    '--addr',
    `127.0.0.1:${port}`,
    '--auth-key',
    `${ACCOUNT.accessKeyId},${ACCOUNT.secretAccessKey}`,
  ]
  return start({ command, args, env: { ...process.env, RCLONE_CONFIG: '' }, dir, endpoint: `http://127.0.0.1:${port}` })
}

interface StartOptions {
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  dir: string
  endpoint: string
}

const PROBE_TIMEOUT_MS = 10_000

async function start({ command, args, env, dir, endpoint }: StartOptions): Promise<RunningS3> {
  const server = await startProcess({ command, args, env, cwd: dir })
  const signal = exitSignal(server, 'The S3 server')
  const client = new AwsClient({ ...ACCOUNT, service: 's3', retries: 0 })
  const ready = async () => {
    await client.fetch(`${endpoint}/${BUCKET}`, { method: 'PUT', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
    const { ok } = await client.fetch(`${endpoint}/${BUCKET}/ready`, {
      method: 'PUT',
      body: 'yes',
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    })
    return ok
  }
  await until('the S3 server stores an object', ready, { everyMs: 100, signal })
  return {
    endpoint,
    bucket: BUCKET,
    ...ACCOUNT,
    client,
    async stop() {
      await server.kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
