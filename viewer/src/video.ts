// A WebM of the picture: frame by frame by WebCodecs, which drops nothing however slow drawing is; else what MediaRecorder sees.
import { download } from './dom';
import { ArrayBufferTarget, Muxer } from './vendor';

export interface Recorder {
  // Takes the picture of the canvas, drawn in this task. Time in seconds from the start of the video.
  take(seconds: number): Promise<void>;
  finish(name: string): Promise<void>;
}

const codecs = [
  ['vp09.00.40.08', 'V_VP9'],
  ['vp8', 'V_VP8'],
  ['av01.0.08M.08', 'V_AV1'],
] as const;

export async function webCodecs(canvas: HTMLCanvasElement, fps: number): Promise<Recorder | null> {
  if (typeof VideoEncoder === 'undefined' || typeof VideoFrame === 'undefined') return null;
  const width = canvas.width & ~1,
    height = canvas.height & ~1,
    bitrate = Math.min(20e6, Math.max(2e6, 6 * width * height));
  for (const [codec, muxed] of codecs) {
    const config: VideoEncoderConfig = { codec, width, height, bitrate, framerate: fps };
    try {
      if (!(await VideoEncoder.isConfigSupported(config)).supported) continue;
    } catch {
      continue;
    }
    const target = new ArrayBufferTarget(),
      muxer = new Muxer({
        target,
        video: { codec: muxed, width, height, frameRate: fps },
        firstTimestampBehavior: 'offset',
      });
    let failed: unknown = null,
      n = 0;
    const encoder = new VideoEncoder({
      output: (chunk, meta) => muxer.addVideoChunk(chunk, meta),
      error: (e) => (failed = e),
    });
    encoder.configure(config);
    return {
      async take(seconds) {
        if (failed) throw failed;
        const frame = new VideoFrame(canvas, {
          timestamp: Math.round(seconds * 1e6),
          duration: Math.round(1e6 / fps),
          visibleRect: { x: 0, y: 0, width, height },
        });
        encoder.encode(frame, { keyFrame: n++ % (2 * fps) === 0 });
        frame.close();
        while (encoder.encodeQueueSize > 4) await new Promise((done) => setTimeout(done, 4));
      },
      async finish(name) {
        await encoder.flush();
        encoder.close();
        muxer.finalize();
        download(new Blob([target.buffer], { type: 'video/webm' }), name);
      },
    };
  }
  return null;
}

export function mediaRecorder(canvas: HTMLCanvasElement, fps: number): Recorder | null {
  if (typeof MediaRecorder === 'undefined' || !('captureStream' in canvas)) return null;
  const parts: Blob[] = [],
    recorder = new MediaRecorder(canvas.captureStream(fps), { mimeType: 'video/webm' });
  const stopped = new Promise<void>((done) => recorder.addEventListener('stop', () => done()));
  recorder.addEventListener('dataavailable', (e) => parts.push(e.data));
  recorder.start();
  return {
    take: () => new Promise((done) => setTimeout(done, 1000 / fps)), // in real time: that is all it can see
    async finish(name) {
      recorder.stop();
      await stopped;
      download(new Blob(parts, { type: 'video/webm' }), name);
    },
  };
}
