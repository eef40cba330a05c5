// One quad with a grid drawn in the fragment shader: anti-aliased by derivatives, two scales, fading into the sky by alpha.
import * as T from './vendor';
import type { Theme } from './theme';

export class Floor {
  readonly mesh: T.Mesh;
  private readonly uniforms = {
    uMinor: { value: new T.Color() },
    uMajor: { value: new T.Color() },
    uCentre: { value: new T.Vector2() },
    uFade: { value: new T.Vector2() },
    uStep: { value: new T.Vector2() },
  };
  private readonly material: T.MeshStandardMaterial;

  // radius: of what moves; solid: a plane of the scene, not a mere grid for the eye.
  constructor(
    radius: number,
    readonly solid: boolean,
  ) {
    const decade = 10 ** Math.round(Math.log10(radius / 0.5));
    this.uniforms.uStep.value.set(0.1 * decade, decade);
    this.uniforms.uFade.value.set(4 * radius, 9 * radius);
    const m = (this.material = new T.MeshStandardMaterial({ roughness: 0.95, metalness: 0, transparent: true }));
    m.depthWrite = solid;
    m.onBeforeCompile = (s) => {
      Object.assign(s.uniforms, this.uniforms);
      s.vertexShader = s.vertexShader
        .replace('#include <common>', '#include <common>\nvarying vec2 vXY; uniform vec2 uCentre;')
        .replace('#include <begin_vertex>', '#include <begin_vertex>\nvXY = position.xy + uCentre;');
      s.fragmentShader = s.fragmentShader
        .replace(
          '#include <common>',
          `#include <common>
        varying vec2 vXY; uniform vec3 uMinor, uMajor; uniform vec2 uCentre, uFade, uStep;
        float gridLine(vec2 p, float step, float px) {
          vec2 q = p / step, w = fwidth(q), g = abs(fract(q - .5) - .5) / max(w, 1e-6);
          float l = 1. - min(min(g.x, g.y) / px, 1.);
          return l * (1. - smoothstep(.25, .6, max(w.x, w.y)));
        }`,
        )
        .replace(
          '#include <color_fragment>',
          `#include <color_fragment>
        float minorLine = gridLine(vXY, uStep.x, 1.), majorLine = gridLine(vXY, uStep.y, 1.4);
        diffuseColor.rgb = mix(diffuseColor.rgb, uMinor, minorLine);
        diffuseColor.rgb = mix(diffuseColor.rgb, uMajor, majorLine);`,
        )
        .replace(
          '#include <opaque_fragment>',
          `#include <opaque_fragment>
        gl_FragColor.a = 1. - smoothstep(uFade.x, uFade.y, distance(vXY, uCentre));${
          solid
            ? ''
            : `
        gl_FragColor.a *= gl_FrontFacing ? 1. : .25;`
        }`,
        );
    };
    if (!solid) m.side = T.DoubleSide;
    this.mesh = new T.Mesh(new T.PlaneGeometry(20 * radius, 20 * radius), m);
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = -1;
  }

  setTheme(t: Theme): void {
    this.material.color.set(t.floor);
    this.uniforms.uMinor.value.set(t.minor);
    this.uniforms.uMajor.value.set(t.major);
  }

  // The quad is centred on the foot of p (relative to origin) on the plane through at; lines stay where they are in the world.
  moveTo(p: T.Vector3, at: T.Vector3, turn: T.Quaternion): void {
    const back = turn.clone().invert(),
      local = p.clone().sub(at).applyQuaternion(back).setZ(0);
    this.mesh.quaternion.copy(turn);
    this.mesh.position.copy(local).applyQuaternion(turn).add(at);
    this.uniforms.uCentre.value.set(local.x, local.y);
  }
}
